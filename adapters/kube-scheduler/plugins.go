// The plugins that the scheduler gets in addition, or in place of its own. Each takes a decision that is otherwise
// left to chance, or opens a point that steps can hold.

package main

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	configv1 "k8s.io/kube-scheduler/config/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	configscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	pluginnames "k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/topologyaware"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

const (
	gateName       = "GangproofGate"
	scoreName      = "GangproofScore"
	tiesName       = "GangproofTies"
	placementsName = "GangproofPlacements"
	// tieScale makes room between two scores for what breaks a tie.
	tieScale = 1000
	// permitTimeout is the longest that the framework allows.
	permitTimeout = 15 * time.Minute
)

// profiles are those of the default configuration, with the plugins of this file.
func (s *Setup) profiles() ([]config.KubeSchedulerProfile, error) {
	var versioned configv1.KubeSchedulerConfiguration
	configscheme.Scheme.Default(&versioned)
	var full config.KubeSchedulerConfiguration
	if err := configscheme.Scheme.Convert(&versioned, &full, nil); err != nil {
		return nil, err
	}
	base := full.Profiles[0]
	standFor(&base)
	s.changePlugins(base.Plugins)
	if len(s.Profiles) == 0 {
		return []config.KubeSchedulerProfile{base}, nil
	}
	var named []config.KubeSchedulerProfile
	for _, name := range s.Profiles {
		profile := *base.DeepCopy()
		profile.SchedulerName = name
		named = append(named, profile)
	}
	return named, nil
}

func (s *Setup) changePlugins(plugins *config.Plugins) {
	only := func(enabled ...config.Plugin) config.PluginSet {
		return config.PluginSet{Disabled: []config.Plugin{{Name: "*"}}, Enabled: enabled}
	}
	rank, breaker := config.Plugin{Name: scoreName, Weight: 1}, config.Plugin{Name: tiesName, Weight: 1}
	placed := enabled(features.TopologyAwareWorkloadScheduling)
	if s.ranked() {
		plugins.Score = only(rank)
		if placed {
			plugins.PlacementScore = only(config.Plugin{Name: pluginnames.PodGroupPodsCount, Weight: tieScale}, rank)
		}
	} else {
		for i := range plugins.MultiPoint.Enabled {
			plugin := &plugins.MultiPoint.Enabled[i]
			plugin.Weight = max(plugin.Weight, 1) * tieScale
		}
		if s.Score == "fixed" {
			plugins.Score = only(config.Plugin{Name: scoreName, Weight: tieScale})
		}
		plugins.Score.Enabled = append(plugins.Score.Enabled, breaker)
		if placed {
			plugins.PlacementScore.Enabled = append(plugins.PlacementScore.Enabled, breaker)
		}
	}
	if placed {
		plugins.PlacementGenerate = only(config.Plugin{Name: placementsName})
	}
	plugins.Permit.Enabled = append(plugins.Permit.Enabled, config.Plugin{Name: gateName})
	plugins.PreBind.Enabled = append(plugins.PreBind.Enabled, config.Plugin{Name: gateName})
}

func (s *Setup) ranked() bool { return s.Score == "" || s.Score == "rank" }

func (s *scenario) registry(gone <-chan struct{}) frameworkruntime.Registry {
	return frameworkruntime.Registry{
		gateName: func(_ context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
			return &gate{h, s.calls, gone}, nil
		},
		writesName: func(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
			return s.newClaimWrites(ctx, args, h, gone)
		},
		scoreName: func(_ context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
			return &score{h, s.setup}, nil
		},
		tiesName: func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
			return &ties{s.setup.Seed}, nil
		},
		placementsName: func(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
			own, err := topologyaware.New(ctx, args, inOrder{h}, feature.Features{})
			return &placements{own, s.setup}, err
		},
	}
}

// gate makes Permit and PreBind points that steps can hold or fail. It does nothing at pods of which no step speaks,
// except that in stepwise mode it lets binding cycles begin one after the other. PreBind of a pod that has claims is
// that of the plugin for devices.
type gate struct {
	handle fwk.Handle
	calls  *calls
	gone   <-chan struct{}
}

func (*gate) Name() string                                                       { return gateName }
func (*gate) SignPod(context.Context, *v1.Pod) ([]fwk.SignFragment, *fwk.Status) { return nil, nil }

// EventsToRegister lets a pod that was refused at Permit be tried again when there is or may be more room. Without
// it the pod's own nomination would wake it.
func (*gate) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.Update}},
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Delete}},
	}, nil
}

func (p *gate) Permit(_ context.Context, state fwk.CycleState, pod *v1.Pod, _ string) (*fwk.Status, time.Duration) {
	key := "permit/" + keyOf(pod)
	// In a group's cycle Permit is asked only whether the group would do; the pods come again, each for itself.
	if state.IsPodGroupSchedulingCycle() || !p.calls.concerned(key) {
		return nil, 0
	}
	go p.answer(key, pod)
	return fwk.NewStatus(fwk.Wait, "held by the scenario"), permitTimeout
}

// answer ends the wait of a pod at Permit when the call is let go.
func (p *gate) answer(key string, pod *v1.Pod) {
	err := p.calls.enter(context.Background(), p.gone, key)
	for range 1000 { // the pod begins to wait only after Permit has returned
		if waiting := p.handle.GetWaitingPod(pod.UID); waiting != nil {
			if err != nil {
				waiting.Reject(gateName, err.Error())
			} else {
				waiting.Allow(gateName)
			}
			return
		}
		select {
		case <-time.After(time.Microsecond):
		case <-p.gone:
			return
		}
	}
}

func (p *gate) PreBindPreFlight(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	key := "prebind/" + keyOf(pod)
	if err := p.calls.line(ctx, p.gone, key); err != nil {
		return nil, fwk.AsStatus(err)
	}
	if !p.calls.concerned(key) || hasClaims(pod) {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	return nil, nil
}

func (p *gate) PreBind(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) *fwk.Status {
	return fwk.AsStatus(p.calls.enter(ctx, p.gone, "prebind/"+keyOf(pod)))
}
