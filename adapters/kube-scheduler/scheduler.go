// The real scheduler of one scenario: built on the cluster, watched through the hooks that it exports, and
// stopped without a trace.

package main

import (
	"context"
	"math/rand"
	"sync/atomic"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/clock"
)

// startScheduler makes a scheduler that knows nothing yet, and lets it read the cluster.
func (s *scenario) startScheduler() error {
	ctx, cancel := context.WithCancel(context.Background())
	profiles, err := s.setup.profiles()
	if err != nil {
		cancel()
		return err
	}
	options := []scheduler.Option{
		scheduler.WithProfiles(profiles...),
		scheduler.WithParallelism(int32(max(s.setup.Parallelism, 1))),
		scheduler.WithClock(&tickClock{}),
		scheduler.WithFrameworkOutOfTreeRegistry(s.registry(ctx.Done())),
	}
	if s.setup.NoBackoff {
		options = append(options, scheduler.WithPodInitialBackoffSeconds(0), scheduler.WithPodMaxBackoffSeconds(0))
	}
	cs := &client{s.cluster.clientset(), s.calls, ctx.Done()}
	informers := scheduler.NewInformerFactory(cs, 0)
	record := func(string) events.EventRecorderLogger { return recorder{s.journal} }
	s.sched, err = scheduler.New(ctx, cs, informers, nil, record, options...)
	if err != nil {
		cancel()
		return err
	}
	s.sched.SchedulingQueue = queue{s.sched.SchedulingQueue, s}
	if !s.setup.Eager {
		s.seedPreemption()
	}
	s.hook(ctx)
	informers.Start(ctx.Done())
	synctest.Wait() // everything is listed and watched
	ended := make(chan struct{})
	go func() { s.sched.Run(ctx); close(ended) }()
	s.stopScheduler = func() {
		cancel()
		<-ended
		informers.Shutdown()
	}
	s.quiesce()
	return nil
}

// hook puts the gate before each cycle, and the log and the pause of an attempt into it.
func (s *scenario) hook(ctx context.Context) {
	s.sched.NextPod = func(logger klog.Logger) (*framework.QueuedPodInfo, error) {
		if !s.drive.mayBegin(ctx) {
			return nil, nil
		}
		pod, err := s.sched.SchedulingQueue.Pop(logger)
		if pod != nil {
			cycle := s.journal.beginCycle()
			s.journal.addTrace("pop", keyOf(pod.Pod), "", "")
			if !s.setup.Eager {
				rand.Seed(s.setup.Seed + int64(cycle)) // whatever was drawn meanwhile
			}
		}
		return pod, err
	}
	fail := s.sched.FailureHandler
	s.sched.FailureHandler = func(ctx context.Context, f framework.Framework, pod *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
		node := ""
		if nominating != nil {
			node = nominating.NominatedNodeName
		}
		s.journal.addTrace("fail", keyOf(pod.Pod), node, status.Code().String()+": "+status.Message())
		fail(ctx, f, pod, status, nominating, start)
	}
	schedulePod := s.sched.SchedulePod
	s.sched.SchedulePod = func(ctx context.Context, f framework.Framework, state fwk.CycleState, pod *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
		s.drive.pausePoint(ctx)
		if !state.ShouldSkipAllPostFilterPlugins() {
			// Let the evictions that the pod before has begun come as far as they can, lest two members race for one victim.
			s.calls.first(ctx, ctx.Done(), keyOf(pod.Pod))
		}
		result, err := schedulePod(ctx, f, state, pod)
		message := ""
		if err != nil {
			message = err.Error()
		}
		s.journal.addTrace("try", keyOf(pod.Pod), result.SuggestedHost, message)
		return result, err
	}
}

// tickClock never shows the same time twice, as a real clock would not.
type tickClock struct {
	clock.RealClock
	ticks atomic.Int64
}

func (c *tickClock) Now() time.Time                  { return time.Now().Add(time.Duration(c.ticks.Add(1))) }
func (c *tickClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// queue is the scheduler's, with the order pinned in which it tries the pods of a group.
type queue struct {
	internalqueue.SchedulingQueue
	s *scenario
}

func (q queue) Pop(logger klog.Logger) (*framework.QueuedPodInfo, error) {
	pod, err := q.SchedulingQueue.Pop(logger)
	return q.pin(pod), err
}

func (q queue) PopSpecificPod(logger klog.Logger, pod *v1.Pod) *framework.QueuedPodInfo {
	return q.pin(q.SchedulingQueue.PopSpecificPod(logger, pod))
}

// pin sets the time by which a group's pods of equal priority are put in order: that of their arrival; or, with
// order real, the time at which the pod was first let into the queue, and among those let in at the same moment
// first the pod that came then, whose coming let the others in, then the others as the seed has it.
func (q queue) pin(pod *framework.QueuedPodInfo) *framework.QueuedPodInfo {
	if pod == nil {
		return nil
	}
	born := q.s.cluster.born(pod.Pod.UID)
	switch {
	case q.s.setup.Order != "real":
		pod.InitialAttemptTimestamp = &born
	case !q.s.setup.Eager && pod.InitialAttemptTimestamp != nil:
		moment := pod.InitialAttemptTimestamp.Truncate(time.Millisecond)
		if !moment.Equal(born.Truncate(time.Millisecond)) {
			moment = moment.Add(time.Duration(1 + chance(q.s.setup.Seed, string(pod.Pod.UID))%uint64(time.Millisecond-1)))
		}
		pod.InitialAttemptTimestamp = &moment
	}
	return pod
}

// poppable says whether Pop would return at once: for a pod in the active queue or, with SchedulerPopFromBackoffQ,
// for one that is in backoff, but not after an error.
func (s *scenario) poppable() bool {
	q := s.sched.SchedulingQueue
	if len(q.PodsInActiveQ()) > 0 {
		return true
	}
	if !enabled(features.SchedulerPopFromBackoffQ) {
		return false
	}
	for _, pod := range q.PodsInBackoffQ() {
		if p, ok := q.GetPod(pod.Name, pod.Namespace); ok && p.UnschedulablePlugins.Len()+p.PendingPlugins.Len() > 0 {
			return true
		}
	}
	return false
}

// binding says whether a pod is on its way: neither bound nor in the queue.
func (s *scenario) binding() bool {
	for _, pod := range s.cluster.pods() {
		if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || ended(pod) {
			continue
		}
		if _, queued := s.sched.SchedulingQueue.GetPod(pod.Name, pod.Namespace); !queued {
			return true
		}
	}
	return false
}
