// A scenario: a cluster, its scheduler, and the steps that happen to them. It lives in one bubble, in which one
// goroutine does everything that is told here.

package main

import (
	"errors"
	"fmt"
	"math/rand"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/kubernetes/pkg/scheduler"
)

type scenario struct {
	setup   *Setup
	journal *journal
	cluster *cluster
	calls   *calls
	drive   *drive

	sched           *scheduler.Scheduler
	stopScheduler   func()
	stopControllers func()
}

// begin makes an empty cluster and a scheduler for it.
func begin(setup Setup) (*scenario, error) {
	if setup.HotLimit == 0 {
		setup.HotLimit = defaultHotLimit
	}
	if err := setGates(setup.Gates); err != nil {
		return nil, err
	}
	s := &scenario{setup: &setup, journal: newJournal(setup.Trace)}
	s.cluster = newCluster(s.setup, s.journal)
	s.calls = newCalls(s.setup, s.journal, s.cluster.position)
	s.drive = newDrive(s)
	s.calls.mayCycle = s.drive.mayTakeTurn
	s.cluster.late = s.late
	// The handlers that are there sleep, on a clock that outlives bubbles.
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{s.journal.error}
	rand.Seed(setup.Seed)
	s.stopControllers = func() {}
	if err := s.startScheduler(); err != nil || !setup.ClaimController {
		return s, err
	}
	return s, s.startClaimController()
}

// end stops all that the scenario has begun.
func (s *scenario) end() {
	s.stopScheduler()
	s.stopControllers()
	time.Sleep(permitTimeout + time.Minute) // some goroutines end only after a sleep, or once their wait at Permit is over
}

// do is one step.
func (s *scenario) do(step Step) error {
	err := s.act(step)
	s.quiesce()
	return err
}

func (s *scenario) act(step Step) error {
	switch {
	case len(step.Create) > 0:
		return s.create(step)
	case len(step.Update) > 0:
		return s.update(step)
	case len(step.Delete) > 0:
		return s.delete(step.Delete)
	case step.Cycles > 0 || step.Attempt:
		if s.setup.Eager || s.setup.Interleave {
			return errors.New("step: found cycles or attempt, expected a scenario that is neither eager nor interleaved")
		}
		if step.Attempt {
			return s.attempt(step.During)
		}
		s.cycles(step.Cycles)
	case len(step.Hold) > 0:
		return each("hold", step.Hold, s.calls.hold)
	case len(step.Release) > 0:
		return each("release", step.Release, s.calls.release)
	case len(step.Fail) > 0:
		return each("fail", step.Fail, s.calls.fail)
	case len(step.Finish) > 0:
		return s.endPods(step.Finish, v1.PodSucceeded)
	case len(step.Crash) > 0:
		return s.endPods(step.Crash, v1.PodFailed)
	case step.Restart:
		s.stopScheduler()
		return s.startScheduler()
	case step.Advance > 0:
		s.drive.free.Store(true)
		defer s.drive.free.Store(false)
		s.advance(time.Duration(step.Advance * float64(time.Second)))
	case step.Reap:
		return s.reap()
	case len(step.Kill) > 0:
		return s.kill(step.Kill)
	}
	return nil
}

func (s *scenario) create(step Step) error {
	for _, raw := range step.Create {
		object, gvr, err := decode(raw)
		if err != nil {
			return err
		}
		if err := s.cluster.Create(gvr, object, metaOf(object).GetNamespace()); err != nil {
			return err
		}
		s.pass(time.Millisecond)
	}
	if late := s.setup.WatchDelay; late > 0 {
		s.pass(time.Duration(late*(len(step.Create)+1)) * time.Millisecond)
	}
	return nil
}

func (s *scenario) update(step Step) error {
	for _, raw := range step.Update {
		object, gvr, err := decode(raw)
		if err != nil {
			return err
		}
		if err := s.cluster.replace(gvr, object); err != nil {
			return err
		}
		s.quiesce()
	}
	return nil
}

// delete is content if an object is not there: somebody else may have been faster.
func (s *scenario) delete(references []string) error {
	for _, text := range references {
		gvr, namespace, name, err := reference(text)
		if err != nil {
			return err
		}
		if err := s.cluster.Delete(gvr, namespace, name); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		s.quiesce()
	}
	return nil
}

func each(step string, keys []string, do func(string)) error {
	if err := checkCalls(step, keys); err != nil {
		return err
	}
	for _, key := range keys {
		do(key)
	}
	return nil
}

func (s *scenario) endPods(keys []string, phase v1.PodPhase) error {
	for _, key := range keys {
		if err := s.cluster.end(key, phase); err != nil {
			return err
		}
		s.quiesce()
	}
	return nil
}

func (s *scenario) terminating() []*v1.Pod {
	var all []*v1.Pod
	for _, pod := range s.cluster.pods() {
		if pod.DeletionTimestamp != nil {
			all = append(all, pod)
		}
	}
	return all
}

func (s *scenario) reap() error {
	for _, pod := range s.terminating() {
		if err := s.cluster.remove(pod.Namespace, pod.Name); err != nil {
			return err
		}
		s.quiesce()
	}
	return nil
}

func (s *scenario) kill(keys []string) error {
	for _, key := range keys {
		if key[:1] == "@" {
			all := s.terminating()
			if len(all) == 0 {
				continue
			}
			key = keyOf(all[0])
		}
		namespace, name := splitKey(key)
		if err := s.cluster.remove(namespace, name); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("step.kill: %w", err)
		}
		s.quiesce()
	}
	return nil
}
