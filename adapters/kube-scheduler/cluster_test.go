// The emulated part: what an API server, a kubelet and some controllers do.

package main

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

func budget(w *world, name string) string {
	w.Helper()
	o, err := w.cluster.Get(budgetsGVR, "default", name)
	if err != nil {
		w.Fatal(err)
	}
	s := o.(*policyv1.PodDisruptionBudget).Status
	return strings.Trim(strings.Join(strings.Fields(strings.NewReplacer("{", "", "}", "").Replace(
		string(rune('0'+s.DisruptionsAllowed))+" of "+string(rune('0'+s.CurrentHealthy))+" healthy, wanted "+string(rune('0'+s.DesiredHealthy)))), " "), " ")
}

func TestCluster(t *testing.T) {
	plain := Setup{Gates: noPop}
	pdb := func(name string, key string, value any) object {
		return object{"kind": "PodDisruptionBudget", "metadata": object{"name": name}, "spec": object{"selector": object{"matchLabels": object{"tier": "db"}}, key: value}}
	}
	facts(t, []fact{
		{"a budget follows its pods", plain, func(w *world) {
			tier := label("tier", "db")
			w.create(node("n", 3), pdb("least", "minAvailable", 2), pdb("share", "minAvailable", "50%"), pdb("most", "maxUnavailable", 1), podsOf("v1 v2 v3", prio(10), tier, on("n")))
			for name, expected := range map[string]string{"least": "1 of 3 healthy, wanted 2", "share": "1 of 3 healthy, wanted 2", "most": "1 of 3 healthy, wanted 2"} {
				if found := budget(w, name); found != expected {
					t.Errorf("%s: found %s, expected %s", name, found, expected)
				}
			}
			w.delete("v1")
			if found := budget(w, "least"); found != "0 of 2 healthy, wanted 2" {
				t.Errorf("after a deletion: found %s", found)
			}
			w.step(Step{Crash: []string{"v2"}})
			if found := budget(w, "least"); found != "0 of 1 healthy, wanted 2" {
				t.Errorf("after a crash: found %s", found)
			}
		}},
		{"whoever is protected by a budget that is used up is spared", plain, func(w *world) {
			tier := label("tier", "db")
			w.create(node("n", 3), pdb("least", "minAvailable", 2), podsOf("v1", prio(10), on("n")), podsOf("v2 v3", prio(10), tier, on("n")), pod("x"))
			w.settle()
			w.victims("v1")
		}},
		{"an eviction uses a budget up", plain, func(w *world) {
			tier := label("tier", "db")
			w.create(node("n", 3), pdb("least", "minAvailable", 1), podsOf("v1", prio(10), on("n")), podsOf("v2 v3", prio(10), tier, on("n")), pod("x"))
			w.settle()
			w.victims("v2") // of v2 and v3, which are younger than v1, the first uses the budget up
			w.create(pod("y"))
			w.settle()
			w.victims("v2 v1")
		}},
		{"a pod that ends makes room, counts for no group, and is seen no more", Setup{Gates: noPop}, func(w *world) {
			w.create(node("n", 1), group("g", 1), pod("p1", in("g")))
			w.settle()
			w.create(pod("p2"))
			w.settle()
			w.step(Step{Finish: []string{"p1"}})
			w.settle()
			w.bound("p2@n")
			w.step(Step{Crash: []string{"p2"}})
			w.happened("finish", "p1")
			w.happened("crash", "p2")
			w.bound("")
			w.step(Step{Restart: true})
			w.create(pod("p3"))
			w.settle()
			w.bound("p3@n")
			if err := w.do(Step{Finish: []string{"p1"}}); err == nil || err.Error() != "pod p1: found Succeeded, expected one that has not ended" {
				t.Errorf("the second end: found %v", err)
			}
		}},
		{"a protected group stays until its last pod ends", plain, func(w *world) {
			g := group("g", 1)
			g["metadata"].(object)["finalizers"] = []any{protection}
			w.create(node("n", 2), g, podsOf("p1 p2", in("g")))
			w.settle()
			w.step(Step{Delete: []string{"PodGroup/default/g"}})
			w.delete("p1")
			if len(w.look().PodGroups) != 1 {
				t.Error("the group is gone too early")
			}
			w.step(Step{Finish: []string{"p2"}})
			if len(w.look().PodGroups) != 0 {
				t.Error("the group is still there")
			}
		}},
		{"a group without finalizers goes at once, and so does one that loses them", plain, func(w *world) {
			g := group("g", 1)
			g["metadata"].(object)["finalizers"] = []any{protection}
			w.create(group("h", 1), g, pod("p1", in("g")))
			w.step(Step{Delete: []string{"PodGroup/default/g", "PodGroup/default/h"}})
			w.condition("h", "none", "")
			if len(w.look().PodGroups) != 1 {
				t.Error("g is gone")
			}
			w.update(group("g", 1))
			if len(w.look().PodGroups) != 0 {
				t.Error("g is still there")
			}
		}},
		{"grace periods", plain, func(w *world) {
			w.create(node("n", 2), pod("p1", grace(30), on("n")), pod("p2", on("n")), pod("p3", grace(30)))
			w.delete("p1 p2 p3 p3 p1")
			w.terminates("p1")
			w.bound("p1@n")
			w.step(Step{Kill: []string{"@"}})
			w.bound("")
			w.step(Step{Kill: []string{"@", "p1"}})
		}},
		{"a pod made again is another pod", Setup{Gates: noPop}, func(w *world) {
			w.create(node("n", 1), pod("b", on("n")), podsOf("p1 p2"))
			w.delete("p1")
			w.create(pod("p1"))
			w.settle()
			w.delete("b")
			w.settle()
			w.bound("p2@n")
		}},
		{"namespaces", Setup{Gates: noPop}, func(w *world) {
			w.create(node("n", 4), group("red/g", 2), group("g", 2), podsOf("red/p1 red/p2 p1 p2", in("g")))
			w.settle()
			w.bound("p1@n p2@n red/p1@n red/p2@n")
			w.condition("red/g", "True/Scheduled", "")
			w.delete("red/p1")
			w.hold("bind/red/p3")
			w.create(pod("red/p3", in("g")))
			w.settleFor(3)
			w.happened("held", "bind/red/p3")
			w.release("bind/red/p3")
			w.bound("p1@n p2@n red/p2@n red/p3@n")
		}},
		{"profiles: a pod of an unknown one is nobody's", Setup{Gates: noPop, Profiles: []string{"red", "blue"}}, func(w *world) {
			w.create(node("n", 4), pod("p1", spec("schedulerName", "red")), pod("p2", spec("schedulerName", "blue")), pod("p3"))
			w.settleFor(2)
			w.bound("p1@n p2@n")
			w.expect("known", "", func(_ string, p PodState) string { return p.Queue })
		}},
		{"priority classes", Setup{Gates: noPop}, func(w *world) {
			class := func(name string, value int, isDefault bool) object {
				return object{"kind": "PriorityClass", "metadata": object{"name": name}, "value": value, "globalDefault": isDefault, "preemptionPolicy": "Never"}
			}
			bare := func(name, class string) object {
				p := pod(name)
				delete(p["spec"].(object), "priority")
				if class != "" {
					spec("priorityClassName", class)(p)
				}
				return p
			}
			w.create(class("high", 1000, false), class("usual", 5, true), bare("a", ""), bare("b", "high"), bare("c", "system-node-critical"))
			for name, expected := range map[string]int32{"a": 5, "b": 1000, "c": 2_000_001_000} {
				o, _ := w.cluster.Get(podsGVR, "default", name)
				if found := *o.(*v1.Pod).Spec.Priority; found != expected {
					t.Errorf("%s: found %d, expected %d", name, found, expected)
				}
			}
			err := w.do(Step{Create: raws(bare("d", "none"))})
			if err == nil || err.Error() != `pod d: priorityClassName: found "none", expected the name of a PriorityClass` {
				t.Errorf("found %v", err)
			}
		}},
		{"nodes are updated and deleted", plain, func(w *world) {
			w.create(node("n", 1), podsOf("p1 p2"))
			w.settle()
			w.update(node("n", 2))
			w.settle()
			w.bound("p1@n p2@n")
			w.step(Step{Delete: []string{"Node//n"}})
			w.create(pod("p3"))
			w.settle()
			w.message("p3", "no nodes available to schedule pods")
			w.bound("p1@n p2@n")
		}},
		{"an object can be made once", plain, func(w *world) {
			w.create(pod("p1"))
			if err := w.do(Step{Create: raws(pod("p1"))}); err == nil || err.Error() != `pods "p1" already exists` {
				t.Errorf("found %v", err)
			}
		}},
		{"fixed scores", Setup{Gates: noPop, Score: "fixed", NodeScores: map[string]int64{"b": 50, "c": 20}}, func(w *world) {
			w.create(node("a", 1), node("b", 1), node("c", 1), podsOf("p1 p2 p3"))
			w.settle()
			w.bound("p1@b p2@c p3@a")
		}},
		{"more than a hundred events at once", Setup{Gates: noPop, Eager: true, Atomic: true, WatchDelay: 5}, func(w *world) {
			var names []string
			for i := range 150 {
				names = append(names, "p"+string(rune('a'+i/26))+string(rune('a'+i%26)))
			}
			w.create(node("n", 109), podsOf(strings.Join(names, " ")))
			w.settle()
			if found := len(w.look().Pods); found != 150 {
				t.Errorf("found %d pods", found)
			}
			bound := 0
			for _, p := range w.look().Pods {
				if p.Node != "" {
					bound++
				}
			}
			if bound != 109 {
				t.Errorf("found %d bound", bound)
			}
		}},
	})
	nodes := map[string]bool{}
	for seed := range int64(16) {
		play(t, Setup{Gates: noPop, Score: "default", Seed: seed}, func(w *world) {
			w.create(node("a", 1), node("b", 1), pod("p1"))
			w.settle()
			nodes[w.look().Pods["p1"].Node] = true
		})
	}
	if len(nodes) != 2 {
		t.Errorf("16 seeds: found %v, expected each of two nodes that are equally good", nodes)
	}
}
