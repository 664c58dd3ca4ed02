// The log of a scenario: what changed in the cluster and what the scheduler was seen to do, each with its time
// and with the cycle that it belongs to. It also counts progress, by which a settled cluster is told.

package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
)

// Event is one entry of the log.
type Event struct {
	T     float64 `json:"t"` // seconds since the scenario began
	Cycle int     `json:"cycle"`
	Ev    string  `json:"ev"`
	Obj   string  `json:"obj,omitempty"`
	Node  string  `json:"node,omitempty"`
	Msg   string  `json:"msg,omitempty"`
}

const mostErrors = 20

type journal struct {
	start time.Time
	trace bool

	mu       sync.Mutex
	events   []Event
	errors   []string // what the scheduler handed to its error handler
	cycles   int
	hotLoop  int
	progress int
	seen     map[string]string
}

func newJournal(trace bool) *journal {
	return &journal{start: time.Now(), trace: trace, events: []Event{}, errors: []string{}, seen: map[string]string{}}
}

func (j *journal) now() float64 { return time.Since(j.start).Seconds() }

func (j *journal) add(ev, obj, node, msg string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, Event{T: j.now(), Cycle: j.cycles, Ev: ev, Obj: obj, Node: node, Msg: msg})
}

// addTrace adds what only a trace shows.
func (j *journal) addTrace(ev, obj, node, msg string) {
	if j.trace {
		j.add(ev, obj, node, msg)
	}
}

// beginCycle counts a cycle, and says how many there were with it.
func (j *journal) beginCycle() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.cycles++
	return j.cycles
}

func (j *journal) cycle() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.cycles
}

func (j *journal) hot() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.hotLoop++
}

func (j *journal) moved() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.progress++
}

func (j *journal) progressed() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.progress
}

func (j *journal) error(_ context.Context, err error, msg string, keysAndValues ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.errors) < mostErrors {
		j.errors = append(j.errors, fmt.Sprintf("%s: %v %v", msg, err, keysAndValues))
	}
}

// changed says whether a value is another than the last time, and whether there is or was one.
func (j *journal) changed(what, key, value string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	old := j.seen[what+" "+key]
	j.seen[what+" "+key] = value
	return old != value
}

// written logs what a write changed. The messages of conditions are no progress: which member of a failing group
// gets which one changes from try to try, without end.
func (j *journal) written(object runtime.Object) {
	switch o := object.(type) {
	case *v1.Pod:
		key, node := keyOf(o), o.Status.NominatedNodeName
		if j.changed("nominated", string(o.UID), node) {
			j.moved()
			j.add("nominate", key, node, "")
		}
		if condition, message := podScheduled(o); condition != "" && j.changed("condition", string(o.UID), condition+message) {
			j.addTrace("podCondition", key, "", condition+": "+message)
		}
	case *schedulingv1alpha2.PodGroup:
		key := keyOf(o)
		for _, c := range o.Status.Conditions {
			text := fmt.Sprintf("%s=%s/%s: %s", c.Type, c.Status, c.Reason, c.Message)
			if j.changed(c.Type, string(o.UID), text) {
				j.add("groupCondition", key, "", text)
			}
			if j.changed(c.Type+" reason", string(o.UID), string(c.Status)+c.Reason) {
				j.moved()
			}
		}
	case *resourcev1.ResourceClaim:
		if text := claimed(o); j.changed("claim", string(o.UID), text) {
			j.moved()
			j.add("claim", keyOf(o), "", text)
		}
	default:
		j.moved()
	}
}

// claimed is what a claim has and who may use it.
func claimed(claim *resourcev1.ResourceClaim) string {
	var devices, users []string
	if claim.Status.Allocation != nil {
		for _, d := range claim.Status.Allocation.Devices.Results {
			devices = append(devices, d.Driver+"/"+d.Pool+"/"+d.Device)
		}
	}
	for _, user := range claim.Status.ReservedFor {
		users = append(users, user.Resource+"/"+key(claim.Namespace, user.Name))
	}
	return "allocated=" + strings.Join(devices, ",") + " reserved=" + strings.Join(users, ",")
}

// recorder turns the scheduler's own event "Preempted" into an entry: it alone names the preemptor.
type recorder struct{ journal *journal }

func (r recorder) Eventf(regarding, related runtime.Object, _, reason, _, note string, args ...any) {
	if reason != "Preempted" {
		return
	}
	name := func(object runtime.Object) string {
		if m, err := meta.Accessor(object); err == nil {
			return keyOf(m)
		}
		return ""
	}
	r.journal.add("preempted", name(regarding), "", "by "+name(related)+": "+fmt.Sprintf(note, args...))
}

func (r recorder) WithLogger(klog.Logger) events.EventRecorderLogger { return r }
