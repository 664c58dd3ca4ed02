// Calls that are held open, fail or take time, and what happens in the midst of a cycle.

package main

import "testing"

func TestCalls(t *testing.T) {
	plain := Setup{Gates: gang}
	facts(t, []fact{
		{"a bind that is held keeps its room, and others go on", plain, func(w *world) {
			w.create(node("n", 2))
			w.hold("bind/p1")
			w.create(podsOf("p1 p2 p3"))
			w.settleFor(3)
			w.bound("p2@n")
			w.happened("held", "bind/p1")
			w.release("bind/p1")
			w.bound("p1@n p2@n")
		}},
		{"a bind that fails is tried again", plain, func(w *world) {
			w.create(node("n", 1))
			w.fail("bind/p1")
			w.create(pod("p1"))
			w.settle()
			w.bound("p1@n")
			w.happened("failed", "bind/p1")
			if w.journal.cycles != 2 {
				t.Errorf("found %d cycles, expected 2", w.journal.cycles)
			}
		}},
		{"a call that fails while it is held fails when it is released", plain, func(w *world) {
			w.create(node("n", 1))
			w.hold("bind/p1")
			w.create(pod("p1"))
			w.step(Step{Cycles: 1})
			w.fail("bind/p1")
			w.release("bind/p1")
			w.happened("failed", "bind/p1")
			w.bound("")
		}},
		{"an eviction that is held keeps the preemptor waiting", plain, func(w *world) {
			w.create(node("n", 1), pod("v", prio(10), on("n")))
			w.hold("delete/v")
			w.create(pod("p1"))
			w.settleFor(3)
			w.bound("v@n")
			w.nominated("p1@n")
			w.release("delete/v")
			w.settle()
			w.bound("p1@n")
		}},
		{"an eviction that fails is tried again", plain, func(w *world) {
			w.create(node("n", 1), pod("v", prio(10), on("n")))
			w.fail("delete/v")
			w.create(pod("p1"))
			w.settle()
			w.bound("p1@n")
			w.happened("evict", "v")
		}},
		{"a pod that is held at Permit is assumed, and bound when it is released", plain, func(w *world) {
			w.create(node("n", 1))
			w.hold("permit/p1")
			w.create(podsOf("p1 p2"))
			w.settleFor(3)
			w.bound("")
			w.nominated("p1@n")
			w.queued("unschedulable", "p2")
			w.release("permit/p1")
			w.settle()
			w.bound("p1@n")
		}},
		{"a pod that is refused at Permit is unschedulable and is tried when something changes", plain, func(w *world) {
			w.create(node("n", 1))
			w.fail("permit/p1")
			w.create(pod("p1"))
			w.settle()
			w.bound("")
			w.message("p1", "0/1 nodes are available: 1 permit/p1 fails as the scenario asks.")
			w.create(node("m", 1))
			w.settle()
			w.bound("p1@n")
		}},
		{"the wait at Permit ends after 15 minutes", plain, func(w *world) {
			w.create(node("n", 1))
			w.hold("permit/p1")
			w.create(pod("p1"))
			w.step(Step{Cycles: 1})
			w.step(Step{Advance: 899})
			w.message("p1", "")
			w.step(Step{Advance: 2})
			w.message("p1", "0/1 nodes are available: 1 rejected due to timeout after waiting 15m0s at plugin GangproofGate.")
			w.release("permit/p1")
			w.bound("")
		}},
		{"a gang is permitted member by member: one that is held does not hold the others", Setup{Gates: noPop}, func(w *world) {
			w.create(node("n", 2))
			w.hold("permit/p1")
			w.create(group("g", 2), podsOf("p1 p2", in("g")))
			w.settleFor(3)
			w.bound("p2@n")
			w.release("permit/p1")
			w.bound("p1@n p2@n")
		}},
		{"a pod that is held at PreBind is nominated, and bound when it is released", plain, func(w *world) {
			w.create(node("n", 1))
			w.hold("prebind/p1")
			w.create(pod("p1"))
			w.settleFor(3)
			w.bound("")
			w.nominated("p1@n")
			w.release("prebind/p1")
			w.bound("p1@n")
			w.nominated("")
		}},
		{"a PreBind that fails is tried again", plain, func(w *world) {
			w.create(node("n", 1))
			w.fail("prebind/p1")
			w.create(pod("p1"))
			w.settle()
			w.bound("p1@n")
			w.happened("failed", "prebind/p1")
		}},
		{"a pod that is held at PreBind gives way to a stronger one without an eviction", plain, func(w *world) {
			w.create(node("n", 1))
			w.hold("prebind/weak")
			w.create(pod("weak", prio(1)))
			w.settleFor(3)
			w.create(pod("strong"))
			w.settle()
			w.bound("strong@n")
			w.victims("")
			w.queued("unschedulable", "weak")
		}},
		{"a status that cannot be written is written at the next try", Setup{Gates: noPop}, func(w *world) {
			w.create(node("n", 1))
			w.fail("patch/p2")
			w.create(podsOf("p1 p2"))
			w.settle()
			w.message("p2", "")
			w.create(node("m", 1))
			w.settle()
			w.bound("p1@n p2@m")
		}},
		{"the scheduler waits for a status that is held", plain, func(w *world) {
			w.create(node("n", 1), pod("b", on("n")))
			w.hold("patch/p1")
			w.create(pod("p1"), pod("p2"))
			w.settleFor(3)
			if w.journal.cycles != 1 {
				t.Errorf("found %d cycles, expected 1", w.journal.cycles)
			}
			w.release("patch/p1")
			w.settle()
			w.queued("unschedulable", "p1 p2")
		}},
		{"a group's condition that cannot be written is written at the next try", Setup{Gates: noPop}, func(w *world) {
			w.create(node("n", 1))
			w.fail("condition/g")
			w.create(group("g", 2), podsOf("p1 p2", in("g")))
			w.step(Step{Cycles: 1})
			w.condition("g", "none", "")
			w.settle()
			w.condition("g", "False/Unschedulable", unschedulable)
		}},
		{"calls that take time", Setup{Gates: gang, Eager: true, Atomic: true, CallDelay: 50, WatchDelay: 20}, func(w *world) {
			w.create(node("n", 3), group("g", 3), podsOf("p1 p2 p3", in("g")))
			w.settle()
			w.bound("p1@n p2@n p3@n")
			last := w.journal.events[len(w.journal.events)-1]
			if last.T <= 0.005 {
				t.Errorf("found the last event at %f s", last.T)
			}
		}},
	})
}

func TestAttempt(t *testing.T) {
	facts(t, []fact{
		{"what happens during a cycle is not in its snapshot", Setup{Gates: noPop}, func(w *world) {
			w.create(node("n", 1), pod("b", on("n")), pod("p1"))
			w.step(Step{Attempt: true, During: []Step{{Delete: []string{"Pod/default/b"}}, {Create: raws(node("m", 1))}}})
			w.bound("")
			w.settle()
			w.bound("p1@m")
		}},
		{"a cycle goes on when what should happen during it cannot", Setup{Gates: noPop}, func(w *world) {
			w.create(node("n", 1), pod("p1"))
			err := w.do(Step{Attempt: true, During: []Step{{Finish: []string{"p2"}}}})
			if err == nil || err.Error() != `during 1: pods "p2" not found` {
				t.Errorf("found %v", err)
			}
			w.bound("p1@n")
		}},
		{"a member that comes during the cycle of its gang is not in it", Setup{Gates: noPop}, func(w *world) {
			w.create(node("n", 3), group("g", 2), podsOf("p1 p2", in("g")))
			w.step(Step{Attempt: true, During: []Step{{Create: raws(pod("p3", in("g")))}}})
			w.bound("p1@n p2@n")
			w.step(Step{Attempt: true})
			w.bound("p1@n p2@n p3@n")
		}},
		{"it waits for backoff, up to 30 s", Setup{Gates: noPop}, func(w *world) {
			w.create(node("n", 1), group("g", 2), podsOf("p1 p2", in("g")))
			for range 3 {
				w.step(Step{Attempt: true})
			}
			if now := w.journal.now(); now < 5 || now > 6 {
				t.Errorf("the third of retries after 0, 2, 5 s: found at %f s", now)
			}
		}},
		{"without anything to try nothing runs", Setup{Gates: noPop}, func(w *world) {
			w.create(node("n", 1))
			w.step(Step{Attempt: true})
			if w.journal.cycles != 0 {
				t.Errorf("found %d cycles", w.journal.cycles)
			}
		}},
		{"advance lets time pass without a cycle", Setup{Gates: noPop}, func(w *world) {
			w.create(node("n", 1), pod("p1"))
			w.step(Step{Advance: 100})
			w.bound("")
			w.queued("active", "p1")
		}},
	})
}

func TestRestart(t *testing.T) {
	facts(t, []fact{
		{"a new scheduler knows nominations and bindings from the API, and no attempts", Setup{Gates: noPop, Graceful: true}, func(w *world) {
			w.create(node("n", 1), pod("v", prio(10), on("n")), pod("p1"))
			w.step(Step{Cycles: 1})
			w.nominated("p1@n")
			w.step(Step{Restart: true})
			if found := w.look().Pods["p1"]; found.Attempts != 0 || found.Queue != "active" {
				t.Errorf("found %+v", found)
			}
			w.step(Step{Reap: true})
			w.create(pod("weak", prio(50)))
			w.settle()
			w.bound("p1@n")
		}},
		{"calls of the old scheduler come to nothing", Setup{Gates: noPop}, func(w *world) {
			w.create(node("n", 1))
			w.hold("bind/p1")
			w.create(pod("p1"))
			w.step(Step{Cycles: 1})
			w.step(Step{Restart: true})
			w.release("bind/p1")
			w.bound("")
			w.settle()
			w.bound("p1@n")
			w.happened("bind", "p1")
		}},
		{"a new scheduler takes the pods in the order of their names", Setup{Gates: noPop}, func(w *world) {
			w.create(podsOf("c b a"))
			w.step(Step{Restart: true})
			w.create(node("n", 1))
			w.settle()
			w.bound("a@n")
		}},
		{"an object made again is another one", Setup{Gates: noPop}, func(w *world) {
			w.create(group("g", 1), podsOf("p", in("g")))
			w.settle()
			w.step(Step{Delete: []string{"PodGroup/default/g"}})
			w.create(group("g", 1))
			w.settle()
			w.happened("groupCondition", "g g")
		}},
		{"a scenario may end with calls held open", Setup{Gates: noPop, Parallelism: 16}, func(w *world) {
			w.create(node("n", 3), podsOf("v1 v2", prio(10), on("n")))
			w.hold("bind/p1 delete/v1 delete/v2 permit/p2")
			w.create(podsOf("p1 p2 p3"))
			w.settleFor(3)
		}},
	})
}
