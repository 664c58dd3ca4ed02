// The words of the protocol: what a scenario is set up with, and the steps that it takes.

package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"
)

// Setup says which scheduler a scenario gets, and how it is driven.
type Setup struct {
	Name string `json:"name"`
	// Gates are feature gates that differ from the defaults of v1.36.
	Gates map[string]bool `json:"gates"`
	// Score "rank", the default: nodes and placements are taken in the order of their names. "fixed": by
	// NodeScores. "default": by the scheduler's own scoring; Seed breaks ties, here and in "fixed".
	Score      string           `json:"score"`
	NodeScores map[string]int64 `json:"nodeScores"`
	Seed       int64            `json:"seed"`
	// Order of the pods of equal priority in a group. "arrival", the default: as they were created. "real": as
	// the scheduler has it, who puts those that were gated together in the order of a Go map; Seed decides it.
	Order string `json:"order"`
	// Eager lets cycles, bindings, evictions and watch events run side by side, as they do in a cluster. If it is
	// not set the run goes stepwise: a cycle begins when all that the one before began has ended.
	Eager bool `json:"eager"`
	// Interleave lets them take turns in an order that Seed decides: a cycle may begin, a call be carried out, a watch
	// event arrive. What comes of it is as free as if eager, and as repeatable as if stepwise. Cycles begin only while
	// a settle or advance step is at work.
	Interleave bool `json:"interleave"`
	// Atomic, with Eager: cycles begin only while a settle or advance step is at work.
	Atomic bool `json:"atomic"`
	// NoBackoff takes all backoff away.
	NoBackoff bool `json:"noBackoff"`
	// Graceful lets each bound pod that is deleted stay, terminating, until a reap or kill step.
	Graceful bool `json:"graceful"`
	// NoKubelet leaves bound pods without phase Running and without a start time.
	NoKubelet bool `json:"noKubelet"`
	// ClaimController lets the controller of ResourceClaims and the garbage collection of claims run beside the scheduler.
	ClaimController bool `json:"claimController"`
	// HotLimit is how many fruitless cycles may follow each other while no time passes; default 10.
	HotLimit int `json:"hotLimit"`
	// Restless lets a settle step end well although the cluster did not come to rest in all its time: whoever is caught in
	// a livelock may be looked at.
	Restless bool `json:"restless"`
	// WatchDelay is how many milliseconds watch events come late at most, CallDelay how many the scheduler's
	// writes take at most.
	WatchDelay int `json:"watchDelay"`
	CallDelay  int `json:"callDelay"`
	// Parallelism of the scheduler; default 1. With eviction calls held open it needs more, or one blocks the next.
	Parallelism int `json:"parallelism"`
	// Profiles are the names of the scheduler's profiles; default-scheduler alone if there are none.
	Profiles []string `json:"profiles"`
	// Trace logs, too, who was popped, tried and failed, and the conditions of pods.
	Trace bool `json:"trace"`
}

// Step is one thing that happens; exactly one field is set, and During goes with Attempt.
type Step struct {
	Create  []json.RawMessage `json:"create,omitempty"` // whole objects, 1 ms apart
	Update  []json.RawMessage `json:"update,omitempty"` // whole objects
	Delete  []string          `json:"delete,omitempty"` // Kind/namespace/name
	Cycles  int               `json:"cycles,omitempty"` // at most so many scheduling cycles, while time stands still
	Attempt bool              `json:"attempt,omitempty"`
	During  []Step            `json:"during,omitempty"` // once the cycle of the attempt has its members and its snapshot
	Hold    []string          `json:"hold,omitempty"`   // CALL/pod: such calls of the scheduler stay open
	Release []string          `json:"release,omitempty"`
	Fail    []string          `json:"fail,omitempty"`   // CALL/pod: the next such call fails
	Finish  []string          `json:"finish,omitempty"` // pods that end as Succeeded
	Crash   []string          `json:"crash,omitempty"`  // pods that end as Failed
	Restart bool              `json:"restart,omitempty"`
	Advance float64           `json:"advance,omitempty"` // so many seconds pass, without a cycle if stepwise
	Reap    bool              `json:"reap,omitempty"`    // all terminating pods go
	Kill    []string          `json:"kill,omitempty"`    // these pods go at once; @ is the first one that is terminating
}

// check names the first value that cannot be.
func (s *Setup) check() error {
	switch {
	case !slices.Contains([]string{"", "rank", "fixed", "default"}, s.Score):
		return fmt.Errorf("setup.score: found %q, expected rank, fixed or default", s.Score)
	case !slices.Contains([]string{"", "arrival", "real"}, s.Order):
		return fmt.Errorf("setup.order: found %q, expected arrival or real", s.Order)
	case s.Eager && s.Interleave:
		return fmt.Errorf("setup.interleave: found with eager, expected one of them")
	case s.NodeScores != nil && s.Score != "fixed":
		return fmt.Errorf("setup.nodeScores: found with score %q, expected score fixed", s.Score)
	}
	for _, number := range []struct {
		name  string
		value int
	}{{"hotLimit", s.HotLimit}, {"watchDelay", s.WatchDelay}, {"callDelay", s.CallDelay}, {"parallelism", s.Parallelism}} {
		if number.value < 0 {
			return fmt.Errorf("setup.%s: found %d, expected 0 or more", number.name, number.value)
		}
	}
	for node, score := range s.NodeScores {
		if score < 0 || score > 100 {
			return fmt.Errorf("setup.nodeScores.%s: found %d, expected 0 to 100", node, score)
		}
	}
	return checkGates(s.Gates)
}

// check says whether the step is one thing.
func (s *Step) check() error {
	set := fieldsSet(reflect.ValueOf(*s))
	rest := slices.DeleteFunc(slices.Clone(set), func(name string) bool { return name == "during" })
	switch {
	case len(rest) == 0:
		return fmt.Errorf("step: found nothing, expected one of %s", strings.Join(names(Step{}), ", "))
	case len(rest) > 1:
		return fmt.Errorf("step: found %s, expected exactly one", strings.Join(rest, " and "))
	case len(rest) < len(set) && !s.Attempt:
		return fmt.Errorf("step.during: found with %s, expected attempt", rest[0])
	case s.Cycles < 0 || s.Advance < 0:
		return fmt.Errorf("step.%s: found a negative number, expected 0 or more", rest[0])
	}
	for i := range s.During {
		during := &s.During[i]
		if err := during.check(); err != nil {
			return fmt.Errorf("during %d: %w", i+1, err)
		}
		if during.Attempt || during.Cycles > 0 || during.Restart {
			return fmt.Errorf("during %d: found %s, expected a step that starts no cycle", i+1, fieldsSet(reflect.ValueOf(*during))[0])
		}
	}
	return nil
}

// names are the JSON names of a struct's fields, in their order.
func names(of any) []string {
	var all []string
	for _, field := range reflect.VisibleFields(reflect.TypeOf(of)) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		all = append(all, name)
	}
	return all
}

func fieldsSet(v reflect.Value) []string {
	var set []string
	for i, name := range names(v.Interface()) {
		if !v.Field(i).IsZero() {
			set = append(set, name)
		}
	}
	return set
}

// strict decodes data, and refuses what it does not know by name; what is the name of the thing for the message.
func strict(what string, data []byte, into any) error {
	unknown, err := kjson.UnmarshalStrict(data, into, kjson.DisallowUnknownFields, kjson.DisallowDuplicateFields)
	switch {
	case err != nil:
		return fmt.Errorf("%s: cannot be read: %w", what, err)
	case len(unknown) > 0:
		return fmt.Errorf("%s: found %w, expected %s", what, unknown[0], strings.Join(names(reflect.ValueOf(into).Elem().Interface()), ", "))
	}
	return nil
}
