// PreBind of the plugin for devices, which a step can hold or fail: not beside it but in it, so that the scheduler sees
// a write of its own fail. And in interleaved runs the members that a cycle commits take turns with everything else.

package main

import (
	"context"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
)

const writesName = "GangproofClaims"

// claimWrites is the part of the plugin for devices that writes; what it finds and chooses stays with the one of that name.
// The two share the state of each cycle and what is in flight.
type claimWrites struct {
	own   fwk.PreBindPlugin
	calls *calls
	setup *Setup
	gone  <-chan struct{}
}

func (s *scenario) newClaimWrites(ctx context.Context, args runtime.Object, handle fwk.Handle, gone <-chan struct{}) (fwk.Plugin, error) {
	own, err := dynamicresources.New(ctx, args, handle, feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))
	if err != nil {
		return nil, err
	}
	return &claimWrites{own.(fwk.PreBindPlugin), s.calls, s.setup, gone}, nil
}

// standFor puts the plugin before the other, whose place it takes at PreBind.
func standFor(profile *config.KubeSchedulerProfile) {
	multi := &profile.Plugins.MultiPoint
	at := slices.IndexFunc(multi.Enabled, func(p config.Plugin) bool { return p.Name == dynamicresources.Name })
	if at < 0 {
		return
	}
	multi.Enabled = slices.Insert(multi.Enabled, at, config.Plugin{Name: writesName})
	profile.Plugins.PreBind.Disabled = append(profile.Plugins.PreBind.Disabled, config.Plugin{Name: dynamicresources.Name})
	for _, of := range profile.PluginConfig {
		if of.Name == dynamicresources.Name {
			profile.PluginConfig = append(profile.PluginConfig, config.PluginConfig{Name: writesName, Args: of.Args})
			return
		}
	}
}

func (*claimWrites) Name() string { return writesName }

// EventsToRegister are none: nobody is rejected here.
func (*claimWrites) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return nil, nil
}

// Reserve, where it is for good, lets calls and events come between the members of one cycle.
func (p *claimWrites) Reserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, _ string) *fwk.Status {
	if p.setup.Interleave && !state.IsPodGroupSchedulingCycle() && hasClaims(pod) {
		return fwk.AsStatus(p.calls.line(ctx, p.gone, "reserve/"+keyOf(pod)))
	}
	return nil
}

func (*claimWrites) Unreserve(context.Context, fwk.CycleState, *v1.Pod, string) {}

func (p *claimWrites) PreBindPreFlight(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	return p.own.PreBindPreFlight(ctx, state, pod, node)
}

// PreBind waits while it is held; the call that it is to fail at is its first write or, if it has none to make, itself.
func (p *claimWrites) PreBind(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	key := "prebind/" + keyOf(pod)
	if !p.calls.concerned(key) {
		return p.own.PreBind(ctx, state, pod, node)
	}
	if err := p.calls.await(ctx, p.gone, key); err != nil {
		return fwk.AsStatus(err)
	}
	status := p.own.PreBind(context.WithValue(ctx, writer{}, key), state, pod, node)
	if err := p.calls.failure(key); err != nil && status.IsSuccess() {
		return fwk.AsStatus(err)
	}
	return status
}

// writer is under which key a context says for whose PreBind a claim is written.
type writer struct{}

// refused is the error of a write for a PreBind that is to fail.
func (c *calls) refused(ctx context.Context) error {
	if key, ok := ctx.Value(writer{}).(string); ok {
		return c.failure(key)
	}
	return nil
}

func hasClaims(pod *v1.Pod) bool { return len(pod.Spec.ResourceClaims) > 0 }
