// When pods and groups are tried: order, gates, backoff.

package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestOrder(t *testing.T) {
	twoGangs := func(w *world, second ...podOption) {
		w.create(node("n", 4), group("g1", 3), group("g2", 3), podsOf("a1", in("g1")), podsOf("b1 b2 b3", append(second, in("g2"))...), podsOf("a2 a3", in("g1")))
		w.settle()
	}
	facts(t, []fact{
		{"a gang whose pod arrived first is tried first, even if it is completed later", Setup{Gates: noPop}, func(w *world) {
			twoGangs(w)
			w.bound("a1@n a2@n a3@n")
		}},
		{"the highest priority goes first", Setup{Gates: noPop}, func(w *world) {
			twoGangs(w, prio(200))
			w.bound("b1@n b2@n b3@n")
		}},
		{"one strong member brings its whole group up", Setup{Gates: noPop}, func(w *world) {
			w.create(node("n", 2), group("g1", 2), group("g2", 2), pod("a1", prio(0), in("g1")), podsOf("b1 b2", prio(50), in("g2")), pod("a2", prio(100), in("g1")))
			w.step(Step{Cycles: 1})
			w.bound("a1@n a2@n")
		}},
		{"plain pods go in the order of their arrival", Setup{Gates: gang}, func(w *world) {
			w.create(node("n", 2), podsOf("c b a"))
			w.settle()
			w.bound("b@n c@n")
		}},
		{"members of equal priority are tried in the order of their arrival", Setup{Gates: noPop, Trace: true}, func(w *world) {
			w.create(node("n", 3), podsOf("c b a", in("g")), group("g", 3))
			w.settle()
			w.happened("try", "c b a")
		}},
	})
}

func TestOrderReal(t *testing.T) {
	tried := func(seed int64) (order string) {
		play(t, Setup{Gates: noPop, Order: "real", Seed: seed, Trace: true}, func(w *world) {
			w.create(node("n", 5), group("g", 5), podsOf("a b c d e", in("g")))
			w.settle()
			for _, e := range w.journal.events {
				if e.Ev == "try" {
					order += e.Obj
				}
			}
		})
		return order
	}
	orders := map[string]bool{}
	for seed := range int64(20) {
		order := tried(seed)
		if !strings.HasPrefix(order, "e") {
			t.Errorf("seed %d: found %s, expected the pod first that completes the gang", seed, order)
		}
		orders[order] = true
	}
	if len(orders) < 10 {
		t.Errorf("20 seeds: found %d orders of the four others, expected most of the 24", len(orders))
	}
	if tried(7) != tried(7) {
		t.Error("seed 7: found two orders, expected one")
	}
}

func TestGates(t *testing.T) {
	onlyGeneric := map[string]bool{"GenericWorkload": true}
	facts(t, []fact{
		{"members of a gang wait for their group", Setup{Gates: noPop}, func(w *world) {
			w.create(node("n", 4), podsOf("p1 p2 p3", in("g")))
			w.settle()
			w.queued("gated by GangScheduling", "p1 p2 p3")
			w.create(group("g", 3))
			w.settle()
			w.bound("p1@n p2@n p3@n")
		}},
		{"members of a basic group wait for it too", Setup{Gates: noPop}, func(w *world) {
			w.create(node("n", 2), podsOf("p1 p2", in("g")))
			w.settle()
			w.queued("gated by GangScheduling", "p1 p2")
			w.create(group("g", 0))
			w.settle()
			w.bound("p1@n p2@n")
		}},
		{"without GangScheduling nobody waits for a group", Setup{Gates: onlyGeneric}, func(w *world) {
			w.create(node("n", 2), podsOf("p1 p2 p3", in("g")))
			w.settleFor(2)
			w.bound("p1@n p2@n")
		}},
		{"without GenericWorkload there are no groups", Setup{}, func(w *world) {
			w.create(node("n", 2), podsOf("p1 p2", in("g")))
			w.settleFor(2)
			w.bound("p1@n p2@n")
		}},
		{"too few members wait", Setup{Gates: noPop}, func(w *world) {
			w.create(node("n", 4), group("g", 3), podsOf("p1 p2", in("g")))
			w.settle()
			w.queued("gated by GangScheduling", "p1 p2")
			w.create(pod("p3", in("g")))
			w.settle()
			w.bound("p1@n p2@n p3@n")
		}},
		{"who fails and becomes too few is gated again", Setup{Gates: noPop}, func(w *world) {
			w.create(node("n", 4), pod("b", cpu(2), on("n")), group("g", 3), podsOf("p1 p2 p3", in("g")))
			w.settle()
			w.delete("p3")
			w.settle()
			w.delete("b")
			w.settle()
			w.queued("gated by GangScheduling", "p1 p2")
		}},
		{"members of a deleted group are gated again", Setup{Gates: noPop}, func(w *world) {
			w.create(node("n", 4), pod("b", cpu(2), on("n")), group("g", 3), podsOf("p1 p2 p3", in("g")))
			w.settle()
			w.step(Step{Delete: []string{"PodGroup/default/g"}})
			w.delete("b")
			w.settle()
			w.queued("gated by GangScheduling", "p1 p2 p3")
		}},
		{"a member with a scheduling gate counts, and the rest is tried and fails", Setup{Gates: noPop}, func(w *world) {
			w.create(node("n", 4), group("g", 3), podsOf("p1 p2", in("g")), pod("p3", in("g"), spec("schedulingGates", []any{object{"name": "x"}})))
			w.settle()
			w.bound("")
			w.condition("g", "False/Unschedulable", unschedulable)
			w.queued("gated by SchedulingGates", "p3")
			w.update(pod("p3", in("g")))
			w.settle()
			w.bound("p1@n p2@n p3@n")
		}},
		{"a terminating member counts: a pod is bound alone", Setup{Gates: noPop, Graceful: true}, func(w *world) {
			w.create(node("n", 3), group("g", 2), podsOf("p1 p2", in("g")))
			w.settle()
			w.delete("p1 p2")
			w.create(pod("p3", in("g")))
			w.settle()
			w.terminates("p1 p2")
			w.bound("p1@n p2@n p3@n")
		}},
	})
}

func TestBackoff(t *testing.T) {
	failing := func(w *world) {
		w.create(node("n", 4), pod("b", cpu(2), prio(1000), on("n")), group("g", 3), podsOf("p1 p2 p3", in("g")))
	}
	facts(t, []fact{
		{"retries come after 0, 2, 5, 10, 19, 30 s", Setup{Gates: noPop, Trace: true}, func(w *world) {
			failing(w)
			w.settleFor(40)
			var times []string
			for _, e := range w.journal.events {
				if e.Ev == "pop" {
					times = append(times, fmt.Sprintf("%.0f", e.T))
				}
			}
			if found := strings.Join(times, " "); found != "0 2 5 10 19 30" {
				t.Errorf("found %s", found)
			}
		}},
		{"with pop from backoff a failing group is retried without a pause", Setup{Gates: gang}, func(w *world) {
			failing(w)
			w.step(Step{Cycles: 1000})
			if w.journal.cycles != defaultHotLimit+2 || w.journal.hotLoop != 1 {
				t.Errorf("found %d cycles, %d hot loops, expected one cycle that changes a condition, %d that change nothing, and the cut", w.journal.cycles, w.journal.hotLoop, defaultHotLimit+1)
			}
		}},
		{"a failing plain pod is not", Setup{Gates: gang}, func(w *world) {
			w.create(node("n", 1), podsOf("p1 p2"))
			w.step(Step{Cycles: 1000})
			if w.journal.cycles != 2 || w.journal.hotLoop != 0 {
				t.Errorf("found %d cycles, %d hot loops", w.journal.cycles, w.journal.hotLoop)
			}
			w.queued("unschedulable", "p2")
		}},
		{"a failed member is in backoff, and no event wakes it", Setup{Gates: noPop}, func(w *world) {
			failing(w)
			w.step(Step{Cycles: 1})
			w.delete("b")
			w.create(node("n2", 9))
			w.queued("backoff", "p1 p2 p3")
			w.settle()
			w.bound("p1@n p2@n p3@n")
		}},
		{"without backoff it is tried at once", Setup{Gates: noPop, NoBackoff: true}, func(w *world) {
			failing(w)
			w.step(Step{Cycles: 1})
			w.step(Step{Advance: 1})
			w.queued("active", "p1 p2 p3")
		}},
		{"freed room goes to a weak plain pod while the strong gang is in backoff", Setup{Gates: noPop}, func(w *world) {
			w.create(node("n", 2), pod("b", cpu(2), prio(1000), on("n")), group("g", 2), podsOf("p1 p2", in("g"), never()), pod("x", cpu(2), prio(1)))
			w.settle()
			w.delete("b")
			w.settle()
			w.bound("x@n")
		}},
	})
}
