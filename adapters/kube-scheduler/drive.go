// How a scenario goes on: cycle by cycle, attempt by attempt, or free. In stepwise mode the scheduler stands at a
// gate before each cycle, and it is let through only when everything that the cycle before began has ended.

package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

const (
	defaultIdle     = 25 // seconds: more than two maximal backoffs
	defaultHotLimit = 10
	mostSeconds     = 900   // of a settle step
	mostCycles      = 5_000 // at one moment of a settle step
	attemptPatience = 30    // seconds
	// conflictWait is longer than client-go's DefaultRetry waits, jitter included.
	conflictWait = 12 * time.Millisecond
)

// drive is the gate, and the pause within an attempt.
type drive struct {
	s      *scenario
	tick   chan struct{} // lets one cycle begin
	atGate atomic.Bool

	pause  atomic.Bool   // at the next SchedulePod
	resume chan struct{} // the end of the pause
	free   atomic.Bool   // while a settle or advance step runs, for Atomic

	mu           sync.Mutex // where cycles begin by themselves: how many did, at this moment, without progress
	fruitless    int
	told         bool // that they are too many
	lastProgress int
	lastTime     time.Time
}

func newDrive(s *scenario) *drive {
	return &drive{s: s, tick: make(chan struct{}), resume: make(chan struct{})}
}

// mayBegin returns when the next cycle may begin; false if the scheduler is to stop.
func (d *drive) mayBegin(ctx context.Context) bool {
	switch {
	case d.s.setup.Interleave:
		if d.s.calls.turn(ctx, ctx.Done(), cycleKey, 0) != nil {
			return false
		}
		d.begins()
		return true
	case !d.s.setup.Eager:
		d.atGate.Store(true)
		defer d.atGate.Store(false)
		select {
		case <-d.tick:
			return true
		case <-ctx.Done():
			return false
		}
	}
	if d.begins(); d.hot() {
		time.Sleep(time.Second)
	}
	for d.s.setup.Atomic && (!d.free.Load() || !d.s.poppable()) && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	return ctx.Err() == nil
}

// begins counts the cycles that begin at one moment without any progress.
func (d *drive) begins() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.look()
	d.fruitless++
}

// hot says whether there were too many of them.
func (d *drive) hot() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.look()
	hot := d.fruitless > d.s.setup.HotLimit
	if hot && !d.told {
		d.told = true
		d.s.journal.hot()
	}
	return hot
}

func (d *drive) look() {
	if progress, now := d.s.journal.progressed(), time.Now(); progress != d.lastProgress || now.After(d.lastTime) {
		d.lastProgress, d.lastTime, d.fruitless, d.told = progress, now, 0, false
	}
}

// mayTakeTurn says whether a cycle may be the next thing to happen.
func (d *drive) mayTakeTurn() bool { return d.free.Load() && d.s.poppable() && !d.hot() }

// pausePoint is where an attempt waits for what happens during it.
func (d *drive) pausePoint(ctx context.Context) {
	if d.pause.CompareAndSwap(true, false) {
		select {
		case <-d.resume:
		case <-ctx.Done():
		}
	}
}

// quiesce returns when nothing in the bubble has anything left to do but to wait for time or for the next step. In
// stepwise mode the short wait before a claim is read again, after a conflict, is part of what has begun.
func (s *scenario) quiesce() {
	for {
		synctest.Wait()
		switch {
		case s.calls.next():
		case s.calls.again.Swap(false) && !s.setup.Eager && !s.setup.Interleave:
			time.Sleep(conflictWait)
		default:
			return
		}
	}
}

// pass lets time pass; calls that become due meanwhile are carried out when they are.
func (s *scenario) pass(d time.Duration) {
	timer := time.NewTimer(d)
	for {
		select {
		case <-s.calls.arrived:
			s.quiesce()
		case <-timer.C:
			s.quiesce()
			return
		}
	}
}

// advance lets time pass; cycles that take turns begin in it, at whole seconds.
func (s *scenario) advance(d time.Duration) {
	for s.setup.Interleave && d > time.Second {
		s.pass(time.Second)
		d -= time.Second
	}
	s.pass(d)
}

// late is how long a watch event takes to arrive.
func (s *scenario) late(_ watch.Event, resource string, gone <-chan struct{}) {
	if s.setup.Interleave {
		_ = s.calls.turn(context.Background(), gone, "watch/"+resource, 0)
	}
	if s.setup.WatchDelay > 0 {
		time.Sleep(upTo(s.setup.WatchDelay))
	}
}

// cycle runs one cycle to the end of all that it begins; false if the one before is still open.
func (s *scenario) cycle() bool {
	if !s.drive.atGate.Load() {
		return false
	}
	s.drive.tick <- struct{}{}
	s.quiesce()
	return true
}

// cycles runs at most so many, until the queue has nothing to offer, or until cycles have become fruitless; false if
// that is not so after all of them.
func (s *scenario) cycles(limit int) bool {
	fruitless, last := 0, s.journal.progressed()
	for range limit {
		if !s.poppable() || !s.cycle() {
			return true
		}
		if progress := s.journal.progressed(); progress != last {
			fruitless, last = 0, progress
		} else if fruitless++; fruitless > s.setup.HotLimit {
			s.journal.hot()
			return true
		}
	}
	return false
}

// attempt runs one cycle, and during in its midst; it waits for backoffs that keep the queue from offering a pod.
func (s *scenario) attempt(during []Step) error {
	for waited := 0; waited < attemptPatience && !s.poppable(); waited++ {
		s.pass(time.Second)
	}
	if !s.poppable() {
		return nil
	}
	s.drive.pause.Store(len(during) > 0)
	if !s.cycle() {
		s.drive.pause.Store(false)
		return fmt.Errorf("step.attempt: found a cycle that has not ended, expected its calls to be released first")
	}
	err := s.during(during)
	if len(during) > 0 && !s.drive.pause.Swap(false) {
		s.drive.resume <- struct{}{}
		s.quiesce()
	}
	return err
}

func (s *scenario) during(steps []Step) error {
	for i, step := range steps {
		if err := s.do(step); err != nil {
			return fmt.Errorf("during %d: %w", i+1, err)
		}
	}
	return nil
}

// settle lets the scheduler work until for idle seconds no pod was bound, deleted or nominated and no group got
// another condition, or until nothing is left in the queue to be tried.
func (s *scenario) settle(idle int) error {
	s.drive.free.Store(true)
	defer s.drive.free.Store(false)
	s.quiesce()
	late := s.setup.WatchDelay+s.setup.CallDelay > 0
	still, last := 0, -1
	for second := 0; second < max(mostSeconds, idle+1); second++ {
		if !s.setup.Eager && !s.setup.Interleave && !s.cycles(mostCycles) {
			return s.restless(fmt.Sprintf("in %d cycles while no time passed", mostCycles))
		}
		quiet := !late || still > 0
		if progress := s.journal.progressed(); progress != last {
			last, still, quiet = progress, 0, !late
		}
		q := s.sched.SchedulingQueue
		if quiet && len(q.PodsInActiveQ())+len(q.PodsInBackoffQ()) == 0 && !s.binding() {
			return nil
		}
		s.pass(time.Second)
		if still++; still > idle {
			return nil
		}
	}
	return s.restless(fmt.Sprintf("for %d s without a pause of %d s", mostSeconds, idle))
}

// restless is the end of a settle step in which the cluster has not come to rest.
func (s *scenario) restless(how string) error {
	if s.setup.Restless {
		return nil
	}
	return fmt.Errorf("settle: found changes %s, expected the cluster to settle", how)
}
