// The plugins that the scheduler gets in addition, or in place of its own. Each takes a decision that is otherwise
// left to chance, or opens a point that steps can hold.

package main

import (
	"cmp"
	"context"
	"hash/fnv"
	"slices"
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

// score takes nodes and placements in the order of their names, or nodes by a fixed score.
type score struct {
	handle fwk.Handle
	setup  *Setup
}

func (*score) Name() string                                           { return scoreName }
func (*score) ScoreExtensions() fwk.ScoreExtensions                   { return nil }
func (*score) PlacementScoreExtensions() fwk.PlacementScoreExtensions { return nil }

// SignPod has nothing to add: whether two pods are alike does not depend on this plugin. Without a signature
// the scheduler would not batch.
func (*score) SignPod(context.Context, *v1.Pod) ([]fwk.SignFragment, *fwk.Status) { return nil, nil }

func (p *score) Score(_ context.Context, _ fwk.CycleState, _ *v1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	if !p.setup.ranked() {
		return p.setup.NodeScores[node.Node().Name], nil
	}
	return p.rank(node)
}

// rank is 100 for the first node, 99 for the second, and so on down to 0.
func (p *score) rank(node fwk.NodeInfo) (int64, *fwk.Status) {
	nodes, err := p.handle.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return 0, fwk.AsStatus(err)
	}
	rank := int64(fwk.MaxNodeScore)
	for _, other := range nodes {
		if other.Node().Name < node.Node().Name {
			rank--
		}
	}
	return max(rank, 0), nil
}

// ScorePlacement ranks placements, which share no node, by their first nodes.
func (p *score) ScorePlacement(_ context.Context, _ fwk.PodGroupCycleState, _ fwk.PodGroupInfo, a *fwk.PodGroupAssignments) (int64, *fwk.Status) {
	best := int64(0)
	for _, node := range a.Placement.Nodes {
		rank, status := p.rank(node)
		if !status.IsSuccess() {
			return 0, status
		}
		best = max(best, rank)
	}
	return best, nil
}

// ties lets the seed decide between nodes, for each pod anew, and between placements that are equally good. The
// scheduler's own choice depends on which goroutine was first to look at a node, and on the order of a Go map.
type ties struct{ seed int64 }

func (*ties) Name() string                                                       { return tiesName }
func (*ties) ScoreExtensions() fwk.ScoreExtensions                               { return nil }
func (*ties) PlacementScoreExtensions() fwk.PlacementScoreExtensions             { return nil }
func (*ties) SignPod(context.Context, *v1.Pod) ([]fwk.SignFragment, *fwk.Status) { return nil, nil }

func (p *ties) Score(_ context.Context, _ fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	return p.draw(keyOf(pod) + " " + node.Node().Name), nil
}

func (p *ties) ScorePlacement(_ context.Context, _ fwk.PodGroupCycleState, _ fwk.PodGroupInfo, a *fwk.PodGroupAssignments) (int64, *fwk.Status) {
	return p.draw(a.Placement.Name), nil
}

func (p *ties) draw(name string) int64 { return int64(chance(p.seed, name) % uint64(fwk.MaxScore+1)) }

// placements puts the placements of the scheduler's own plugin into an order, that of their names or one that
// depends on the seed: the first one's status is reported if none will do.
type placements struct {
	fwk.PlacementGeneratePlugin
	setup *Setup
}

func (*placements) Name() string { return placementsName }
func (p *placements) GeneratePlacements(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, parent *fwk.Placement) (*fwk.GeneratePlacementsResult, *fwk.Status) {
	result, status := p.PlacementGeneratePlugin.GeneratePlacements(ctx, state, group, parent)
	if result != nil {
		slices.SortFunc(result.Placements, func(a, b *fwk.Placement) int {
			if p.setup.ranked() {
				return cmp.Compare(a.Name, b.Name)
			}
			return cmp.Or(cmp.Compare(chance(p.setup.Seed, a.Name), chance(p.setup.Seed, b.Name)), cmp.Compare(a.Name, b.Name))
		})
	}
	return result, status
}

// inOrder is a handle that shows the scheduled pods of a group in the order of their names, not in that of a Go map.
type inOrder struct{ fwk.Handle }

func (h inOrder) SnapshotSharedLister() fwk.SharedLister {
	return orderedLister{h.Handle.SnapshotSharedLister()}
}

type orderedLister struct{ fwk.SharedLister }

func (l orderedLister) PodGroupStates() fwk.PodGroupStateLister {
	return orderedGroups{l.SharedLister.PodGroupStates()}
}

type orderedGroups struct{ fwk.PodGroupStateLister }

func (l orderedGroups) Get(namespace, name string) (fwk.PodGroupState, error) {
	state, err := l.PodGroupStateLister.Get(namespace, name)
	return orderedGroup{state}, err
}

type orderedGroup struct{ fwk.PodGroupState }

func (g orderedGroup) ScheduledPods() []*v1.Pod {
	return slices.SortedFunc(slices.Values(g.PodGroupState.ScheduledPods()), func(a, b *v1.Pod) int {
		return cmp.Compare(keyOf(a), keyOf(b))
	})
}

// chance is a number that depends on nothing but the seed and the name.
func chance(seed int64, name string) uint64 {
	h := fnv.New64a()
	for shift := 0; shift < 64; shift += 8 {
		h.Write([]byte{byte(seed >> shift)})
	}
	h.Write([]byte(name))
	x := h.Sum64() // FNV mixes its last bytes badly: finish as SplitMix64 does
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// gate makes Permit and PreBind points that steps can hold or fail. It does nothing at pods of which no step speaks,
// except that in stepwise mode it lets binding cycles begin one after the other.
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
	if !p.calls.concerned(key) {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	return nil, nil
}

func (p *gate) PreBind(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) *fwk.Status {
	return fwk.AsStatus(p.calls.enter(ctx, p.gone, "prebind/"+keyOf(pod)))
}
