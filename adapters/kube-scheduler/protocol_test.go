// The protocol itself: answers, refusals, and that a scenario leaves nothing behind.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"k8s.io/component-base/featuregate"
)

// converse sends lines and returns the answers, one a line.
func converse(t *testing.T, lines ...string) []string {
	t.Helper()
	var out bytes.Buffer
	if err := newServer(t, &out).serve(strings.NewReader(strings.Join(lines, "\n"))); err != nil {
		t.Fatal(err)
	}
	answers := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(answers) != len(lines) {
		t.Fatalf("%d requests: found %d answers", len(lines), len(answers))
	}
	return answers
}

func line(request string, fields object) string {
	all := object{"request": request}
	for name, value := range fields {
		all[name] = value
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func do(step object) string { return line("do", object{"step": step}) }

func TestConversation(t *testing.T) {
	answers := converse(t,
		line("hello", nil),
		line("load", object{"setup": object{"name": "one", "gates": gang}}),
		do(object{"create": []any{node("n", 2), group("g", 2), pod("p1", in("g")), pod("p2", in("g"))}}),
		line("settle", object{"idle": 25}),
		line("observe", nil),
		line("log", nil),
		line("load", nil),
		line("observe", nil),
	)
	for i, expected := range []string{
		`{"name":"kube-scheduler","version":"v1.36.3","protocol":1,"can":["name","gates",`,
		`{"ok":true}`, `{"ok":true}`, `{"ok":true}`,
		`{"look":{"t":0.004,"cycles":1,"pods":{"p1":{"node":"n","cond":"True"},"p2":{"node":"n","cond":"True"}},"podGroups":{"g":[{"type":"PodGroupScheduled","status":"True",`,
		`{"events":[{"t":0.004,"cycle":1,"ev":"`,
		`{"ok":true}`,
		`{"look":{"t":0,"cycles":0,"pods":{},"podGroups":{}}}`,
	} {
		if !strings.HasPrefix(answers[i], expected) {
			t.Errorf("answer %d: found %s, expected %s", i+1, answers[i], expected)
		}
	}
	if !strings.HasSuffix(answers[5], `"cycles":1,"hotLoop":0,"errors":[]}`) {
		t.Errorf("log: found %s", answers[5])
	}
}

func TestRefusals(t *testing.T) {
	load := func(setup object) string { return line("load", object{"setup": setup}) }
	begin := load(object{"name": "kept"})
	made := do(object{"create": []any{pod("kept")}})
	for _, c := range []struct{ request, expected string }{
		{"nonsense", "request: cannot be read: invalid character 'o' in literal null (expecting 'u')"},
		{`{"request":"bogus"}`, `request: found "bogus", expected one of hello, load, do, settle, observe, log`},
		{`{"request":"observe","look":1}`, `request: found unknown field "look", expected request, setup, step, idle`},
		{`{"request":"settle","idle":-1}`, "settle.idle: found -1, expected 0 or more seconds"},
		{load(object{"colour": "red"}), `setup: found unknown field "colour", expected name, gates, score, nodeScores, seed, order, eager, interleave, atomic, noBackoff, graceful, noKubelet, claimController, hotLimit, restless, watchDelay, callDelay, parallelism, profiles, trace`},
		{load(object{"Score": "rank"}), `setup: found unknown field "Score", expected name,`},
		{load(object{"score": "best"}), `setup.score: found "best", expected rank, fixed or default`},
		{load(object{"order": "odd"}), `setup.order: found "odd", expected arrival or real`},
		{load(object{"nodeScores": object{"n": 1}}), `setup.nodeScores: found with score "", expected score fixed`},
		{load(object{"score": "fixed", "nodeScores": object{"n": 101}}), "setup.nodeScores.n: found 101, expected 0 to 100"},
		{load(object{"hotLimit": -1}), "setup.hotLimit: found -1, expected 0 or more"},
		{load(object{"seed": "x"}), "setup: cannot be read: json: cannot unmarshal string into Go struct field Setup.seed of type int64"},
		{load(object{"gates": object{"NoSuchGate": true}}), "setup.gates.NoSuchGate: found an unknown feature gate, expected one of Kubernetes v1.36"},
		{load(object{"gates": object{"DynamicResourceAllocation": false}}), "setup.gates.DynamicResourceAllocation: found false, expected true, to which it is locked"},
		{load(object{"gates": object{"AllAlpha": true}}), "setup.gates.AllAlpha: found a gate that stands for others, or for none, expected the single gates"},
		{load(object{"gates": object{"GangScheduling": true}}), "setup.gates: found GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload]"},
		{do(nil), "step: found nothing, expected one of create, update, delete, cycles, attempt, during, hold, release, fail, finish, crash, restart, advance, reap, kill"},
		{do(object{"creat": []any{}}), `step: found unknown field "creat", expected create,`},
		{do(object{"reap": true, "cycles": 1}), "step: found cycles and reap, expected exactly one"},
		{do(object{"during": []any{object{"reap": true}}}), "step: found nothing, expected one of"},
		{do(object{"reap": true, "during": []any{object{"reap": true}}}), "step.during: found with reap, expected attempt"},
		{do(object{"attempt": true, "during": []any{object{"cycles": 1}}}), "during 1: found cycles, expected a step that starts no cycle"},
		{do(object{"advance": -1}), "step.advance: found a negative number, expected 0 or more"},
		{do(object{"hold": []any{"bnid/p"}}), `step.hold: found "bnid/p", expected CALL/pod, the call one of bind, delete, patch, permit, prebind, claim, condition`},
		{do(object{"delete": []any{"Pod/p1"}}), `step.delete: found "Pod/p1", expected Kind/namespace/name, the namespace empty if it has none, the kind one of`},
		{do(object{"finish": []any{"p1"}}), `pods "p1" not found`},
		{do(object{"create": []any{object{"kind": "Job", "metadata": object{"name": "j"}}}}), `object.kind: found "Job", expected one of`},
		{do(object{"create": []any{object{"kind": "Pod"}}}), "Pod.metadata.name: found nothing, expected a name"},
		{do(object{"create": []any{object{"kind": "Pod", "apiVersion": "v2", "metadata": object{"name": "p"}}}}), `Pod.apiVersion: found "v2", expected "v1"`},
		{do(object{"create": []any{object{"kind": "Pod", "metadata": object{"name": "p"}, "spec": object{"colour": "red"}}}}), `Pod p: found strict decoding error: unknown field "spec.colour"`},
		{do(object{"create": []any{object{"kind": "Node", "metadata": object{"name": "n", "namespace": "red"}}}}), `Node n: found namespace "red", expected none`},
	} {
		answers := converse(t, begin, made, c.request, line("observe", nil))
		var refused errorAnswer
		if err := json.Unmarshal([]byte(answers[2]), &refused); err != nil || !strings.HasPrefix(refused.Error, c.expected) {
			t.Errorf("%s: found %s, expected %s", c.request, answers[2], c.expected)
		}
		if !strings.Contains(answers[3], `"kept"`) {
			t.Errorf("%s: found the scenario gone: %s", c.request, answers[3])
		}
	}
	answers := converse(t, line("observe", nil), begin, line("load", object{"setup": object{"eager": true}}), do(object{"cycles": 1}))
	if expected := `{"error":"request observe: found no scenario, expected load first"}`; answers[0] != expected {
		t.Errorf("found %s, expected %s", answers[0], expected)
	}
	if expected := `{"error":"step: found cycles or attempt, expected a scenario that is neither eager nor interleaved"}`; answers[3] != expected {
		t.Errorf("found %s, expected %s", answers[3], expected)
	}
}

func TestGatesLeaveNothingBehind(t *testing.T) {
	for _, gates := range []map[string]bool{topology, {}, preempting, {}} {
		play(t, Setup{Gates: gates}, func(*world) {})
	}
	play(t, Setup{}, func(*world) {
		for name, value := range gateDefaults {
			if enabled(featuregate.Feature(name)) != value {
				t.Errorf("%s: found %t, expected its default", name, !value)
			}
		}
	})
}

// A crowd of scenarios, all alike, must leave the heap as it was after the first of them.
func TestMemory(t *testing.T) {
	heap := func(scenarios int) uint64 {
		lines := []string{}
		for range scenarios {
			lines = append(lines, line("load", object{"setup": object{"gates": gang}}),
				do(object{"create": []any{node("n", 2), group("g", 2), pod("p1", in("g")), pod("p2", in("g"))}}), line("settle", nil), line("observe", nil))
		}
		for i, answer := range converse(t, lines...) {
			if strings.Contains(answer, "error") || i%4 == 3 && strings.Count(answer, `"node":"n"`) != 2 {
				t.Fatalf("answer %d: found %s", i+1, answer)
			}
		}
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap(100)
	if after := heap(300); after > before+before/20 {
		t.Errorf("found %d bytes after 100 scenarios and %d after 300 more", before, after)
	}
	if left := runtime.NumGoroutine(); left > 10 {
		t.Errorf("found %d goroutines left", left)
	}
}

// What must end the process does, and says why: run in a process of its own.
func TestPanic(t *testing.T) {
	if os.Getenv("PANIC_FOR_TEST") != "" {
		_, _ = newBubbleForTest(t).ask(func(*scenario) (any, error) { panic("as the test asks") })
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestPanic$")
	cmd.Env = append(os.Environ(), "PANIC_FOR_TEST=1")
	out, err := cmd.CombinedOutput()
	for _, expected := range []string{`kube-scheduler: panic in scenario "doomed"`, "as the test asks", "protocol_test.go"} {
		if err == nil || !strings.Contains(string(out), expected) {
			t.Errorf("found %v, %s, expected %s", err, out, expected)
		}
	}
}

func newBubbleForTest(t *testing.T) *bubble {
	b, err := openBubble(t, Setup{Name: "doomed"})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestHang(t *testing.T) {
	if os.Getenv("HANG_FOR_TEST") != "" {
		s := newServer(t, os.Stdout)
		s.patience = 100 * time.Millisecond
		s.current = newBubbleForTest(t)
		s.inTime(func() (any, error) {
			return s.current.ask(func(*scenario) (any, error) { select {} })
		})
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestHang$")
	cmd.Env = append(os.Environ(), "HANG_FOR_TEST=1")
	out, err := cmd.CombinedOutput()
	if expected := `kube-scheduler: hang: no answer for 100ms in scenario "doomed"`; fmt.Sprint(err) != "exit status 3" || !strings.Contains(string(out), expected) {
		t.Errorf("found %v, %s, expected exit status 3, %s", err, out, expected)
	}
}
