// The calls by which the scheduler acts on the cluster, and the two at which a plugin could: each can be held open,
// can fail, can take time. In stepwise mode they are also put in order: of the calls that are open at the same time
// one is carried out, with all that it causes, then the next. Which one is first is left to the runtime in a real
// scheduler; here it is that of the pod that was created first or, with order real, the one that the seed has.

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// callNames are the calls that hold, release and fail know; the part after the slash is a pod, or the object named here.
// The last two are the claim controller's.
var callNames = []string{"bind", "delete", "patch", "permit", "prebind", "claim", "condition", "generate", "record"}

type calls struct {
	journal  *journal
	setup    *Setup
	position func(key string) (int, bool) // of a pod in the order of creation, if there is one of that key

	mu      sync.Mutex
	held    map[string]chan struct{}
	failing map[string]bool
	open    []*call
	entered int
	carried int
	last    int           // position of the call that was carried out last
	arrived chan struct{} // says that an ordered call wants to go on
	again   atomic.Bool   // says that a call was refused for an old copy, and will be tried again
	// mayCycle says whether a cycle may be begun, if it takes turns with the calls.
	mayCycle func() bool
}

// cycleKey is the turn that begins a cycle.
const cycleKey = "cycle"

type call struct {
	key      string
	position int
	serial   int
	proceed  chan struct{}
}

func (c *call) begins() bool { return c.key == cycleKey }

func newCalls(setup *Setup, journal *journal, position func(string) (int, bool)) *calls {
	return &calls{
		journal: journal, setup: setup, position: position,
		held: map[string]chan struct{}{}, failing: map[string]bool{}, arrived: make(chan struct{}, 1),
	}
}

// upTo is a random time of at most so many milliseconds.
func upTo(ms int) time.Duration {
	return time.Duration(rand.Int63n(int64(ms)*int64(time.Millisecond) + 1))
}

var errGone = errors.New("the scheduler that made this call is gone")

// enter is where each call begins. It returns when the call may be carried out, or the error by which it fails.
func (c *calls) enter(ctx context.Context, gone <-chan struct{}, key string) error {
	if c.setup.CallDelay > 0 {
		time.Sleep(upTo(c.setup.CallDelay))
	}
	if err := c.line(ctx, gone, key); err != nil {
		return err
	}
	if err := c.failure(key); err != nil {
		return err
	}
	if err := c.await(ctx, gone, key); err != nil {
		return err
	}
	return c.failure(key) // a call that is open can be made to fail
}

// await returns when no step holds the call, or holds it no more.
func (c *calls) await(ctx context.Context, gone <-chan struct{}, key string) error {
	gate := c.gate(key)
	if gate == nil {
		return nil
	}
	c.journal.add("held", key, "", "")
	if err := wait(ctx, gone, gate); err != nil {
		return err
	}
	return c.line(ctx, gone, key)
}

// failure is the error of a call that is to fail, once.
func (c *calls) failure(key string) error {
	c.mu.Lock()
	fails := c.failing[key]
	delete(c.failing, key)
	c.mu.Unlock()
	if !fails {
		return nil
	}
	c.journal.add("failed", key, "", "")
	return fmt.Errorf("%s fails as the scenario asks", key)
}

func (c *calls) gate(key string) chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held[key]
}

func wait(ctx context.Context, gone, until <-chan struct{}) error {
	select {
	case <-until:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-gone:
		return errGone
	}
}

// line waits for the turn of a call of this pod. A call on another object has the place of the call that led to it.
func (c *calls) line(ctx context.Context, gone <-chan struct{}, key string) error {
	_, of, _ := strings.Cut(key, "/")
	position, known := c.position(of)
	if !known {
		c.mu.Lock()
		position = c.last
		c.mu.Unlock()
	}
	return c.turn(ctx, gone, key, position)
}

// first waits until everything else waits, and then has the first place.
func (c *calls) first(ctx context.Context, gone <-chan struct{}, key string) {
	_ = c.turn(ctx, gone, key, -1)
}

func (c *calls) turn(ctx context.Context, gone <-chan struct{}, key string, position int) error {
	if c.setup.Eager {
		return nil
	}
	mine := &call{key: key, position: position, proceed: make(chan struct{})}
	c.mu.Lock()
	c.entered++
	mine.serial = c.entered
	c.open = append(c.open, mine)
	c.mu.Unlock()
	select {
	case c.arrived <- struct{}{}:
	default:
	}
	err := wait(ctx, gone, mine.proceed)
	if err != nil {
		c.mu.Lock()
		c.open = slices.DeleteFunc(c.open, func(o *call) bool { return o == mine })
		c.mu.Unlock()
	}
	return err
}

// next lets one of the open calls go on; false if there is none.
func (c *calls) next() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	ready := slices.Clone(c.open)
	if !slices.ContainsFunc(ready, (*call).begins) || !c.mayCycle() {
		ready = slices.DeleteFunc(ready, (*call).begins)
	}
	if len(ready) == 0 {
		return false
	}
	slices.SortFunc(ready, func(a, b *call) int {
		return cmp.Or(cmp.Compare(a.position, b.position), cmp.Compare(a.key, b.key), cmp.Compare(a.serial, b.serial))
	})
	c.carried++
	one := ready[0]
	if c.setup.Order == "real" || c.setup.Interleave {
		one = ready[chance(c.setup.Seed, strconv.Itoa(c.carried))%uint64(len(ready))]
	}
	c.last = one.position
	close(one.proceed)
	c.open = slices.DeleteFunc(c.open, func(o *call) bool { return o == one })
	return true
}

func (c *calls) hold(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held[key] == nil {
		c.held[key] = make(chan struct{})
	}
}

func (c *calls) release(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if gate := c.held[key]; gate != nil {
		close(gate)
		delete(c.held, key)
	}
}

func (c *calls) fail(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failing[key] = true
}

// concerned says whether a step has asked for something at such a call.
func (c *calls) concerned(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failing[key] || c.held[key] != nil
}

// checkCalls reads CALL/pod names.
func checkCalls(step string, keys []string) error {
	for _, key := range keys {
		name, of, _ := strings.Cut(key, "/")
		if !slices.Contains(callNames, name) || of == "" {
			return fmt.Errorf("step.%s: found %q, expected CALL/pod, the call one of %s", step, key, strings.Join(callNames, ", "))
		}
	}
	return nil
}
