// Runs that were recorded once, by an earlier program, on the same scheduler: what was decided must be decided again.
// And the same scenario twice must give the same bytes.

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

const recordedFile = "../../tests/data/recorded.jsonl"

// recording is a line of the file. Scenario holds the setup and the steps, settle and snapshot among them.
type recording struct {
	Stable   bool           `json:"stable"` // three runs agreed
	Scenario map[string]any `json:"scenario"`
	Result   runResult      `json:"result"`
}

type runResult struct {
	Snapshots []Look  `json:"snapshots"`
	Log       []Event `json:"log"`
	Cycles    int     `json:"cycles"`
}

func recordings(t *testing.T) []recording {
	file, err := os.Open(recordedFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []recording
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var r recording
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	if len(all) < 300 {
		t.Fatalf("found %d recordings", len(all))
	}
	return all
}

func (r recording) name() string { return r.Scenario["name"].(string) }

// replay answers what the requests of a recording are answered by now.
func (r recording) replay(t *testing.T, change object) []string {
	setup := object{}
	for name, value := range r.Scenario {
		if name != "steps" {
			setup[name] = value
		}
	}
	for name, value := range change {
		setup[name] = value
	}
	lines := []string{line("load", object{"setup": setup})}
	for _, step := range r.Scenario["steps"].([]any) {
		step := step.(map[string]any)
		switch settle, ok := step["settle"]; {
		case ok && settle == true:
			lines = append(lines, line("settle", nil))
		case ok:
			lines = append(lines, line("settle", settle.(map[string]any)))
		case step["snapshot"] != nil:
			lines = append(lines, line("observe", nil))
		default:
			lines = append(lines, do(step))
		}
	}
	answers := converse(t, append(lines, line("log", nil))...)
	for _, answer := range answers {
		if strings.HasPrefix(answer, `{"error"`) {
			t.Errorf("%s: %s", r.name(), answer)
		}
	}
	return answers
}

func resultOf(answers []string) (result runResult) {
	for _, answer := range answers {
		switch {
		case strings.HasPrefix(answer, `{"look"`):
			var one lookAnswer
			_ = json.Unmarshal([]byte(answer), &one)
			result.Snapshots = append(result.Snapshots, one.Look)
		case strings.HasPrefix(answer, `{"events"`):
			var all logAnswer
			_ = json.Unmarshal([]byte(answer), &all)
			result.Log, result.Cycles = all.Events, all.Cycles
		}
	}
	return result
}

// decided is what the scheduler decided: in each look where pods are and what their groups are told, and who was
// bound, evicted and deleted, in any order. How often a group was tried while it failed is not in it, nor are messages.
func (r runResult) decided() string {
	var all []string
	for i, look := range r.Snapshots {
		for name, pod := range look.Pods {
			all = append(all, fmt.Sprintf("%d pod %s %s %s %s %t", i, name, pod.Node, pod.Nominated, pod.Cond, pod.Deleting))
		}
		for name, conditions := range look.PodGroups {
			for _, c := range conditions {
				all = append(all, fmt.Sprintf("%d group %s %s %s", i, name, c.Status, c.Reason))
			}
		}
	}
	for _, e := range r.Log {
		if e.Ev == "bind" || e.Ev == "delete" {
			all = append(all, fmt.Sprintf("%s %s %s", e.Ev, e.Obj, e.Node))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func TestRecorded(t *testing.T) {
	same := 0
	for _, r := range recordings(t) {
		found, expected := resultOf(r.replay(t, nil)).decided(), r.Result.decided()
		switch {
		case found == expected:
			same++
		case r.Stable:
			t.Errorf("%s: found\n%s\nrecorded\n%s", r.name(), found, expected)
		}
	}
	t.Logf("%d decided as recorded", same)
}

func TestSameBytes(t *testing.T) {
	for i, r := range recordings(t)[:300] {
		if r.Scenario["eager"] == true {
			continue
		}
		change := object{"seed": i, "trace": true, "hotLimit": 3}
		switch i % 3 {
		case 0:
			change["order"], change["score"] = "real", "default"
		case 1:
			change["interleave"], change["score"] = mayInterleave(r), "default"
		}
		if first, second := r.replay(t, change), r.replay(t, change); !slices.Equal(first, second) {
			t.Errorf("%s: found two different runs", r.name())
		}
	}
}

// mayInterleave says whether none of the steps needs single cycles.
func mayInterleave(r recording) bool {
	return !slices.ContainsFunc(r.Scenario["steps"].([]any), func(step any) bool { return step.(map[string]any)["cycles"] != nil })
}
