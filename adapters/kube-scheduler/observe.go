// The look at a scenario: the pods as the API has them and where the queue has them, the conditions of the groups,
// and the claims.

package main

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Look is what can be seen at one moment. Pods that ended are not in it: the scheduler does not see them either.
type Look struct {
	T         float64                                   `json:"t"`
	Cycles    int                                       `json:"cycles"`
	Pods      map[string]PodState                       `json:"pods"`
	PodGroups map[string][]metav1.Condition             `json:"podGroups"`
	Claims    map[string]resourcev1.ResourceClaimStatus `json:"claims,omitempty"`
}

// PodState is a pod in a look.
type PodState struct {
	Node      string   `json:"node,omitempty"`
	Nominated string   `json:"nominated,omitempty"`
	Cond      string   `json:"cond,omitempty"` // of PodScheduled: status/reason
	Message   string   `json:"message,omitempty"`
	Deleting  bool     `json:"deleting,omitempty"`
	Queue     string   `json:"queue,omitempty"`   // active, backoff, unschedulable, or gated by PLUGIN
	Plugins   []string `json:"plugins,omitempty"` // that rejected it
	Attempts  int      `json:"attempts,omitempty"`
}

func (s *scenario) look() Look {
	look := Look{T: s.journal.now(), Cycles: s.journal.cycle(), Pods: map[string]PodState{}, PodGroups: map[string][]metav1.Condition{}}
	q := s.sched.SchedulingQueue
	place := map[string]string{}
	for name, pods := range map[string][]*v1.Pod{"active": q.PodsInActiveQ(), "backoff": q.PodsInBackoffQ(), "unschedulable": q.UnschedulablePods()} {
		for _, pod := range pods {
			place[keyOf(pod)] = name
		}
	}
	for _, pod := range s.cluster.pods() {
		if ended(pod) {
			continue
		}
		state := PodState{Node: pod.Spec.NodeName, Nominated: pod.Status.NominatedNodeName, Deleting: pod.DeletionTimestamp != nil, Queue: place[keyOf(pod)]}
		state.Cond, state.Message = podScheduled(pod)
		if queued, ok := q.GetPod(pod.Name, pod.Namespace); ok {
			state.Attempts = queued.Attempts
			state.Plugins = append(queued.UnschedulablePlugins.UnsortedList(), queued.PendingPlugins.UnsortedList()...)
			slices.Sort(state.Plugins)
			if queued.Gated() {
				state.Queue = "gated by " + queued.GatingPlugin
			}
		}
		look.Pods[keyOf(pod)] = state
	}
	for _, group := range s.cluster.groups() {
		look.PodGroups[keyOf(group)] = group.Status.Conditions
	}
	for _, claim := range s.cluster.claims() {
		if look.Claims == nil {
			look.Claims = map[string]resourcev1.ResourceClaimStatus{}
		}
		look.Claims[keyOf(claim)] = claim.Status
	}
	return look
}

func (c *cluster) groups() []*schedulingv1alpha2.PodGroup {
	c.mu.Lock()
	defer c.mu.Unlock()
	return typed[*schedulingv1alpha2.PodGroup](c.store.list(groupsGVR, ""))
}

func (c *cluster) claims() []*resourcev1.ResourceClaim {
	c.mu.Lock()
	defer c.mu.Unlock()
	return typed[*resourcev1.ResourceClaim](c.store.list(claimsGVR, ""))
}
