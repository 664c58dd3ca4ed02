// Preemption leaves two choices to the order of a Go map, which is another each time: among nodes whose victims are
// equally good, and among victims of a group that started at the same time. Here the seed decides them, in each cycle
// anew. Nothing of the scheduler is replaced: its own code compares start times, and is shown ones that differ by less
// than a millisecond where the API, which has whole seconds, has equal ones or none.

package main

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// seedPreemption lets the seed decide in all profiles.
func (s *scenario) seedPreemption() {
	for name, profile := range s.sched.Profiles {
		for _, plugin := range profile.PreEnqueuePlugins() {
			own, ok := plugin.(*defaultpreemption.DefaultPreemption)
			if !ok {
				continue
			}
			own.Evaluator = preemption.NewEvaluator(own.Name(), profile, &podPreemption{own, s}, own.Executor)
			if len(profile.PodGroupPostFilterPlugins()) > 0 {
				evaluator := preemption.NewPodGroupEvaluator(apart{profile, s}, own.Executor)
				s.sched.Profiles[name] = groupProfile{profile, &groupPreemption{own, evaluator}}
			}
		}
	}
}

// started is a copy of the pod with a start time that is the later, by less than a millisecond, the luckier it draws.
func (s *scenario) started(pod *v1.Pod, draw string) *v1.Pod {
	start := time.Now() // what the scheduler takes for the start of a pod that has none
	if pod.Status.StartTime != nil {
		start = pod.Status.StartTime.Time
	}
	luck := chance(s.setup.Seed, fmt.Sprint(s.journal.cycle(), " ", draw)) % uint64(time.Millisecond)
	pod = pod.DeepCopy()
	pod.Status.StartTime = &metav1.Time{Time: start.Add(time.Duration(luck))}
	return pod
}

// podPreemption sets the victims on one node apart from those on another.
type podPreemption struct {
	*defaultpreemption.DefaultPreemption
	s *scenario
}

func (p *podPreemption) SelectVictimsOnNode(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo, pdbs []*policyv1.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	victims, violations, status := p.DefaultPreemption.SelectVictimsOnNode(ctx, state, pod, node, pdbs)
	for i, victim := range victims {
		victims[i] = p.s.started(victim, node.Node().Name)
	}
	return victims, violations, status
}

// groupProfile preempts for groups by the same code, on pods that are set apart.
type groupProfile struct {
	framework.Framework
	preemption *groupPreemption
}

func (p groupProfile) PodGroupPostFilterPlugins() []framework.PodGroupPostFilterPlugin {
	return []framework.PodGroupPostFilterPlugin{p.preemption}
}

type groupPreemption struct {
	*defaultpreemption.DefaultPreemption
	evaluator *preemption.PodGroupEvaluator
}

func (p *groupPreemption) PodGroupPostFilter(ctx context.Context, group *schedulingv1alpha2.PodGroup, pods []*v1.Pod, schedule func(context.Context) *fwk.Status) *fwk.Status {
	return p.evaluator.Preempt(ctx, group, pods, schedule)
}

// apart is a handle that shows each pod on a node with a start time of its own.
type apart struct {
	fwk.Handle
	s *scenario
}

func (h apart) SnapshotSharedLister() fwk.SharedLister {
	return apartLister{h.Handle.SnapshotSharedLister(), h.s}
}

type apartLister struct {
	fwk.SharedLister
	s *scenario
}

func (l apartLister) NodeInfos() fwk.NodeInfoLister {
	return apartNodes{l.SharedLister.NodeInfos(), l.s}
}

type apartNodes struct {
	fwk.NodeInfoLister
	s *scenario
}

func (l apartNodes) List() ([]fwk.NodeInfo, error) {
	nodes, err := l.NodeInfoLister.List()
	all := make([]fwk.NodeInfo, len(nodes))
	for i, node := range nodes {
		all[i] = apartNode{node, l.s}
	}
	return all, err
}

type apartNode struct {
	fwk.NodeInfo
	s *scenario
}

func (n apartNode) GetPods() []fwk.PodInfo {
	var all []fwk.PodInfo
	for _, pod := range n.NodeInfo.GetPods() {
		if shown, err := framework.NewPodInfo(n.s.started(pod.GetPod(), keyOf(pod.GetPod()))); err == nil {
			all = append(all, shown)
		} else {
			all = append(all, pod)
		}
	}
	return all
}
