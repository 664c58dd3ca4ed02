// Command kube-scheduler drives the real kube-scheduler v1.36.3: it answers requests, one JSON object a line,
// with what that scheduler did on a cluster that exists in memory alone.
//
// Each scenario runs in a bubble of testing/synctest: its clock is fake and stands still while any goroutine of
// the scheduler has something to do, so that nothing polls, nothing is waited for, and backoffs of minutes cost
// nothing. README.md tells what is real here and what is emulated; docs/adapters.md has the protocol.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

func main() {
	if len(os.Args) > 1 {
		fmt.Fprintln(os.Stderr, `kube-scheduler takes no arguments: it reads requests from standard input, as in {"request":"hello"}`)
		os.Exit(2)
	}
	prepare()
	// Bubbles can only be had from a test; testing.Main runs one without the go command.
	test := testing.InternalTest{Name: "kube-scheduler", F: func(t *testing.T) {
		if err := newServer(t, os.Stdout).serve(os.Stdin); err != nil {
			fmt.Fprintln(os.Stderr, "kube-scheduler:", err)
			os.Exit(1)
		}
		os.Exit(0) // before the testing package prints its verdict
	}}
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{test}, nil, nil)
}

// debugSignal is the one to which each scheduler's cache debugger subscribes, for good.
const debugSignal = syscall.SIGUSR2

// prepare silences the scheduler's own log, and starts the goroutine that the first subscription to a signal starts
// and that never ends: it must not be in a bubble. Scenarios are small and short: it is the number of garbage
// collections that costs, not the memory.
func prepare() {
	debug.SetGCPercent(400)
	klog.SetLogger(logr.Discard())
	signal.Notify(make(chan os.Signal, 1), debugSignal)
}

// forgetSignals ends the subscription of a scheduler that is no more, which would keep its memory.
func forgetSignals() { signal.Reset(debugSignal) }
