// Interleaved runs: what depends on who is faster goes either way, and each way again with the same seed.

package main

import (
	"fmt"
	"reflect"
	"testing"
)

// outcomes counts what comes of a story in interleaved runs, and plays each seed twice.
func outcomes(t *testing.T, seeds int64, gates map[string]bool, story func(*world) string) map[string]int {
	found := map[string]int{}
	for seed := range seeds {
		var results []string
		var logs [][]Event
		for range 2 {
			play(t, Setup{Gates: gates, Interleave: true, Seed: seed, Trace: true}, func(w *world) {
				results = append(results, story(w))
				logs = append(logs, w.journal.events)
			})
		}
		if results[0] != results[1] || !reflect.DeepEqual(logs[0], logs[1]) {
			t.Errorf("seed %d: found two different runs", seed)
		}
		found[results[0]]++
	}
	return found
}

func both(t *testing.T, found map[string]int, expected ...string) {
	t.Helper()
	for _, one := range expected {
		if found[one] == 0 {
			t.Errorf("found %v, expected some %q", found, one)
		}
	}
	if len(found) != len(expected) {
		t.Errorf("found %v, expected %q", found, expected)
	}
}

func TestInterleave(t *testing.T) {
	t.Run("a group's condition goes back from True to False: the scheduler's own copy is older than its write", func(t *testing.T) {
		both(t, outcomes(t, 30, gang, func(w *world) string {
			w.create(node("n", 2), group("g", 2), podsOf("p1 p2 p3", in("g")))
			w.settle()
			return string(w.look().PodGroups["g"][0].Status)
		}), "True", "False")
	})
	t.Run("a gang and an equal plain pod race for what the gang's preemption frees", func(t *testing.T) {
		both(t, outcomes(t, 20, preempting, func(w *world) string {
			w.create(node("n", 2), pod("v", cpu(2), prio(10), on("n")), group("g", 2, "priority", 100), podsOf("p1 p2", in("g")), pod("x", cpu(2), never()))
			w.settle()
			pods := w.look().Pods
			return fmt.Sprint(pods["x"].Node, pods["p1"].Node, pods["p2"].Node)
		}), "n", "nn")
	})
	t.Run("members are bound in any order", func(t *testing.T) {
		both(t, outcomes(t, 20, gang, func(w *world) (order string) {
			w.create(node("n", 2), group("g", 2), podsOf("p1 p2", in("g")))
			w.settle()
			for _, e := range w.journal.events {
				if e.Ev == "bind" {
					order += e.Obj
				}
			}
			return order
		}), "p1p2", "p2p1")
	})
	t.Run("who comes late to a shared claim may never get it", func(t *testing.T) {
		claim := object{"kind": "ResourceClaim", "metadata": object{"name": "claim"}, "spec": object{"devices": object{"requests": []any{object{"name": "r", "exactly": object{"deviceClassName": "dev"}}}}}}
		claims := []any{object{"name": "c", "resourceClaimName": "claim"}}
		sharing := object{"kind": "PodGroup", "metadata": object{"name": "g"}, "spec": object{"schedulingPolicy": object{"basic": object{}}, "resourceClaims": claims}}
		members := podsOf("p1 p2 p3", in("g"), spec("resourceClaims", claims))
		bound := map[int]bool{}
		for seed := int64(0); seed < 40 && len(bound) < 2; seed++ {
			play(t, Setup{Gates: claiming, Interleave: true, Restless: true, Seed: seed}, func(w *world) {
				w.create(node("n", 3), devices(1, "n"), claim, sharing, members)
				w.settle()
				number := 0
				for _, p := range w.look().Pods {
					if p.Node != "" {
						number++
					}
				}
				bound[number] = true
			})
		}
		if !bound[1] || !bound[3] {
			t.Errorf("members bound in 40 seeds: found %v, expected one and three", bound)
		}
	})
	facts(t, []fact{
		{"a hot loop is cut by time", Setup{Gates: gang, Interleave: true, HotLimit: 5}, func(w *world) {
			w.create(node("n", 1), group("g", 2), podsOf("p1 p2", in("g")))
			w.settleFor(3)
			if w.journal.hotLoop < 3 || w.journal.cycles > 6*6 {
				t.Errorf("found %d hot loops, %d cycles", w.journal.hotLoop, w.journal.cycles)
			}
		}},
		{"nothing runs between steps", Setup{Gates: gang, Interleave: true}, func(w *world) {
			w.create(node("n", 1), pod("p1"))
			w.hold("bind/p1")
			w.queued("active", "p1")
			w.settleFor(3)
			w.step(Step{Restart: true})
			w.release("bind/p1")
			w.queued("active", "p1")
			w.step(Step{Advance: 2.5})
			w.bound("p1@n")
		}},
	})
}
