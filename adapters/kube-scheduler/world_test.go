// The words in which the tests tell facts: a world is a scenario with short forms for what happens and for what
// must then be true. Every fact was first seen on the real scheduler.

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

func TestMain(m *testing.M) {
	prepare()
	os.Exit(m.Run())
}

type object = map[string]any

var (
	gang        = map[string]bool{"GenericWorkload": true, "GangScheduling": true}
	noPop       = with(gang, "SchedulerPopFromBackoffQ", false)
	preempting  = with(gang, "WorkloadAwarePreemption", true)
	preemptSlow = with(preempting, "SchedulerPopFromBackoffQ", false)
	topology    = with(noPop, "TopologyAwareWorkloadScheduling", true)
	claiming    = with(noPop, "DRAWorkloadResourceClaims", true)
)

func with(gates map[string]bool, name string, value bool) map[string]bool {
	all := maps.Clone(gates)
	all[name] = value
	return all
}

func node(name string, cpu int, labels ...string) object {
	all := object{"kubernetes.io/hostname": name}
	for _, label := range labels {
		key, value, _ := strings.Cut(label, "=")
		all[key] = value
	}
	return object{"kind": "Node", "metadata": object{"name": name, "labels": all},
		"status": object{"capacity": object{"cpu": fmt.Sprint(cpu), "memory": "64Gi", "pods": "110"}}}
}

// podOption changes a pod.
type podOption func(pod object)

func spec(name string, value any) podOption {
	return func(pod object) { pod["spec"].(object)[name] = value }
}

func in(group string) podOption { return spec("schedulingGroup", object{"podGroupName": group}) }
func prio(p int) podOption      { return spec("priority", p) }
func on(node string) podOption  { return spec("nodeName", node) }
func grace(s int) podOption     { return spec("terminationGracePeriodSeconds", s) }
func never() podOption          { return spec("preemptionPolicy", "Never") }
func label(key, value string) podOption {
	return func(pod object) { pod["metadata"].(object)["labels"].(object)[key] = value }
}
func started(time string) podOption {
	return func(pod object) { pod["status"] = object{"phase": "Running", "startTime": time} }
}
func cpu(n int) podOption {
	return spec("containers", []any{object{"name": "c", "image": "i", "resources": object{"requests": object{"cpu": fmt.Sprint(n)}}}})
}

// pod asks for one cpu and has priority 100.
func pod(name string, options ...podOption) object {
	namespace, short := splitKey(name)
	p := object{"kind": "Pod", "metadata": object{"name": short, "namespace": namespace, "labels": object{"app": short}}, "spec": object{"priority": 100}}
	cpu(1)(p)
	for _, option := range options {
		option(p)
	}
	return p
}

// pods are several of a kind, their names separated by blanks.
func podsOf(names string, options ...podOption) []object {
	var all []object
	for _, name := range strings.Fields(names) {
		all = append(all, pod(name, options...))
	}
	return all
}

// group is a gang, or a basic group if least is 0.
func group(name string, least int, fields ...any) object {
	policy := object{"basic": object{}}
	if least > 0 {
		policy = object{"gang": object{"minCount": least}}
	}
	all := object{"schedulingPolicy": policy}
	for i := 0; i < len(fields); i += 2 {
		all[fields[i].(string)] = fields[i+1]
	}
	namespace, short := splitKey(name)
	return object{"kind": "PodGroup", "metadata": object{"name": short, "namespace": namespace}, "spec": all}
}

func byZone() []any {
	return []any{"schedulingConstraints", object{"topology": []any{object{"key": "zone"}}}}
}

type world struct {
	*testing.T
	*scenario
}

// play runs a scenario in a bubble.
func play(t *testing.T, setup Setup, story func(*world)) {
	t.Helper()
	setup.Name = t.Name()
	if err := setup.check(); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		s, err := begin(setup)
		if err != nil {
			t.Fatal(err)
		}
		defer s.end()
		story(&world{t, s})
	})
}

type fact struct {
	name  string
	setup Setup
	story func(*world)
}

func facts(t *testing.T, all []fact) {
	for _, f := range all {
		t.Run(f.name, func(t *testing.T) { play(t, f.setup, f.story) })
	}
}

func (w *world) step(step Step) {
	w.Helper()
	if err := step.check(); err != nil {
		w.Fatal(err)
	}
	if err := w.do(step); err != nil {
		w.Fatal(err)
	}
}

// create takes objects and lists of objects.
func (w *world) create(all ...any) {
	w.Helper()
	w.step(Step{Create: raws(all...)})
}

func (w *world) update(all ...any) {
	w.Helper()
	w.step(Step{Update: raws(all...)})
}

func raws(all ...any) []json.RawMessage {
	var raw []json.RawMessage
	for _, one := range all {
		list, ok := one.([]object)
		if !ok {
			list = []object{one.(object)}
		}
		for _, o := range list {
			text, err := json.Marshal(o)
			if err != nil {
				panic(err)
			}
			raw = append(raw, text)
		}
	}
	return raw
}

func (w *world) delete(pods string) {
	w.Helper()
	var all []string
	for _, name := range strings.Fields(pods) {
		namespace, short := splitKey(name)
		all = append(all, "Pod/"+namespace+"/"+short)
	}
	w.step(Step{Delete: all})
}

func (w *world) hold(calls string)    { w.Helper(); w.step(Step{Hold: strings.Fields(calls)}) }
func (w *world) release(calls string) { w.Helper(); w.step(Step{Release: strings.Fields(calls)}) }
func (w *world) fail(calls string)    { w.Helper(); w.step(Step{Fail: strings.Fields(calls)}) }

func (w *world) settle() {
	w.Helper()
	w.settleFor(defaultIdle)
}

func (w *world) settleFor(idle int) {
	w.Helper()
	if err := w.scenario.settle(idle); err != nil {
		w.Fatal(err)
	}
}

// bound says which pods are bound, as name@node, and that no other is.
func (w *world) bound(expected string) {
	w.Helper()
	w.expect("bound", expected, func(name string, p PodState) string {
		if p.Node == "" {
			return ""
		}
		return name + "@" + p.Node
	})
}

func (w *world) nominated(expected string) {
	w.Helper()
	w.expect("nominated", expected, func(name string, p PodState) string {
		if p.Nominated == "" {
			return ""
		}
		return name + "@" + p.Nominated
	})
}

// queued says which pods are in that part of the queue.
func (w *world) queued(place, expected string) {
	w.Helper()
	w.expect(place, expected, func(name string, p PodState) string {
		if p.Queue != place {
			return ""
		}
		return name
	})
}

func (w *world) terminates(expected string) {
	w.Helper()
	w.expect("terminating", expected, func(name string, p PodState) string {
		if !p.Deleting {
			return ""
		}
		return name
	})
}

func (w *world) expect(what, expected string, show func(string, PodState) string) {
	w.Helper()
	var found []string
	for name, state := range w.look().Pods {
		if text := show(name, state); text != "" {
			found = append(found, text)
		}
	}
	slices.Sort(found)
	if text := strings.Join(found, " "); text != expected {
		w.Errorf("%s: found %q, expected %q", what, text, expected)
	}
}

// condition is PodGroupScheduled of a group: status/reason, and the message.
func (w *world) condition(group, expected, message string) {
	w.Helper()
	found := "none"
	for _, c := range w.look().PodGroups[group] {
		found = strings.TrimSuffix(string(c.Status)+"/"+c.Reason+": "+c.Message, ": ")
	}
	if message != "" {
		expected += ": " + message
	}
	if found != expected {
		w.Errorf("condition of %s: found %q, expected %q", group, found, expected)
	}
}

func (w *world) message(pod, expected string) {
	w.Helper()
	if found := w.look().Pods[pod].Message; found != expected {
		w.Errorf("message of %s: found %q, expected %q", pod, found, expected)
	}
}

// happened is all that the log tells of one kind of event: its objects, in order.
func (w *world) happened(ev, expected string) {
	w.Helper()
	var found []string
	for _, e := range w.journal.events {
		if e.Ev == ev {
			found = append(found, e.Obj)
		}
	}
	if text := strings.Join(found, " "); text != expected {
		w.Errorf("%s: found %q, expected %q", ev, text, expected)
	}
}

func (w *world) victims(expected string) {
	w.Helper()
	w.happened("evict", expected)
}

const (
	waitsForMinimum = "pod group is unschedulable, waiting for minCount pods from a gang to be scheduled, one or more plugins asked to wait and no plugin rejected pod"
	unschedulable   = "pod group is unschedulable"
	noRoom          = "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."
)
