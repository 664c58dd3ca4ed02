// The protocol: one request a line, one answer a line, in order. Requests are read outside of the bubble and
// handed into it over a channel that was made outside: a bubble that waits for such a channel is not idle, so that
// its clock stands still between two requests.

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

const (
	schedulerName    = "kube-scheduler"
	schedulerVersion = "v1.36.3"
	protocolVersion  = 1
	// patience is how long an answer may take before the process is given up, in real time.
	patience = 60 * time.Second
)

// Request is one line of input.
type Request struct {
	Request string          `json:"request"`
	Setup   json.RawMessage `json:"setup"`
	Step    json.RawMessage `json:"step"`
	Idle    int             `json:"idle"`
}

type helloAnswer struct {
	Name     string   `json:"name"`
	Version  string   `json:"version"`
	Protocol int      `json:"protocol"`
	Can      []string `json:"can"`
}

type okAnswer struct {
	OK bool `json:"ok"`
}

type errorAnswer struct {
	Error string `json:"error"`
}

type lookAnswer struct {
	Look Look `json:"look"`
}

type logAnswer struct {
	Events  []Event  `json:"events"`
	Cycles  int      `json:"cycles"`
	HotLoop int      `json:"hotLoop"`
	Errors  []string `json:"errors"`
}

var requestNames = []string{"hello", "load", "do", "settle", "observe", "log"}

// server answers requests; it has at most one scenario at a time.
type server struct {
	t        *testing.T
	out      *json.Encoder
	patience time.Duration // in real time
	current  *bubble
}

func newServer(t *testing.T, out io.Writer) *server {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return &server{t: t, out: encoder, patience: patience}
}

// serve answers until the input ends.
func (s *server) serve(in io.Reader) error {
	reader := bufio.NewReaderSize(in, 1<<20)
	for {
		line, err := reader.ReadBytes('\n')
		if len(strings.TrimSpace(string(line))) > 0 {
			if err := s.out.Encode(s.inTime(func() (any, error) { return s.answer(line) })); err != nil {
				return err
			}
		}
		if err != nil {
			s.current.close()
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// inTime ends the process if there is no answer; the stacks of all goroutines tell why.
func (s *server) inTime(ask func() (any, error)) any {
	watchdog := time.AfterFunc(s.patience, func() {
		stacks := make([]byte, 1<<20)
		fmt.Fprintf(os.Stderr, "kube-scheduler: hang: no answer for %v in scenario %q\n%s\n", s.patience, s.current.name(), stacks[:runtime.Stack(stacks, true)])
		os.Exit(3)
	})
	defer watchdog.Stop()
	answer, err := ask()
	if err != nil {
		return errorAnswer{strings.Join(strings.Fields(err.Error()), " ")}
	}
	return answer
}

func (s *server) answer(line []byte) (any, error) {
	var request Request
	if err := strict("request", line, &request); err != nil {
		return nil, err
	}
	switch request.Request {
	case "hello":
		return helloAnswer{schedulerName, schedulerVersion, protocolVersion, can()}, nil
	case "load":
		var setup Setup
		if err := strict("setup", orEmpty(request.Setup), &setup); err != nil {
			return nil, err
		}
		if err := setup.check(); err != nil {
			return nil, err
		}
		return s.load(setup)
	case "do", "settle", "observe", "log":
		if s.current == nil {
			return nil, fmt.Errorf("request %s: found no scenario, expected load first", request.Request)
		}
		return s.current.ask(func(sc *scenario) (any, error) { return sc.answer(request) })
	}
	return nil, fmt.Errorf("request: found %q, expected one of %s", request.Request, strings.Join(requestNames, ", "))
}

func orEmpty(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("{}")
	}
	return raw
}

func can() []string { return append(names(Setup{}), names(Step{})...) }

// answer is what a scenario says to a request.
func (s *scenario) answer(request Request) (any, error) {
	switch request.Request {
	case "do":
		var step Step
		if err := strict("step", orEmpty(request.Step), &step); err != nil {
			return nil, err
		}
		if err := step.check(); err != nil {
			return nil, err
		}
		return okAnswer{true}, s.do(step)
	case "settle":
		idle := request.Idle
		if idle < 0 {
			return nil, fmt.Errorf("settle.idle: found %d, expected 0 or more seconds", idle)
		}
		if idle == 0 {
			idle = defaultIdle
		}
		return okAnswer{true}, s.settle(idle)
	case "observe":
		return lookAnswer{s.look()}, nil
	}
	return s.journal.answer(), nil
}

func (j *journal) answer() logAnswer {
	j.mu.Lock()
	defer j.mu.Unlock()
	return logAnswer{j.events, j.cycles, j.hotLoop, j.errors}
}

func (s *server) load(setup Setup) (any, error) {
	s.current.close()
	var err error
	s.current, err = openBubble(s.t, setup)
	if err != nil {
		return nil, err
	}
	return okAnswer{true}, nil
}

// bubble runs a scenario in its own time. A nil bubble is none.
type bubble struct {
	setup     Setup
	questions chan func(*scenario)
	ended     chan struct{}
}

func openBubble(t *testing.T, setup Setup) (*bubble, error) {
	b := &bubble{setup: setup, questions: make(chan func(*scenario)), ended: make(chan struct{})}
	began := make(chan error)
	utilruntime.PanicHandlers = []func(context.Context, any){func(context.Context, any) { b.tell("the scheduler panics") }}
	go func() {
		defer close(b.ended)
		synctest.Test(t, func(*testing.T) {
			defer b.tellPanic()
			s, err := begin(setup)
			began <- err
			if err != nil {
				return
			}
			for question := range b.questions {
				question(s)
			}
			s.end()
		})
	}()
	if err := <-began; err != nil {
		<-b.ended
		forgetSignals()
		return nil, err
	}
	return b, nil
}

func (b *bubble) tell(what string) {
	fmt.Fprintf(os.Stderr, "kube-scheduler: %s in scenario %q\n", what, b.setup.Name)
}

func (b *bubble) tellPanic() {
	if p := recover(); p != nil {
		b.tell("panic")
		panic(p)
	}
}

func (b *bubble) name() string {
	if b == nil {
		return ""
	}
	return b.setup.Name
}

func (b *bubble) ask(question func(*scenario) (any, error)) (answer any, err error) {
	answered := make(chan struct{})
	b.questions <- func(s *scenario) {
		answer, err = question(s)
		close(answered)
	}
	<-answered
	return answer, err
}

// close ends the scenario and returns when nothing is left of it.
func (b *bubble) close() {
	if b == nil {
		return
	}
	close(b.questions)
	<-b.ended
	forgetSignals()
}
