// Which of several nodes or placements is taken: by name, by fixed scores, or as the scheduler scores them. Where it
// leaves a tie to chance, the seed decides.

package main

import (
	"cmp"
	"context"
	"hash/fnv"
	"slices"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

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
