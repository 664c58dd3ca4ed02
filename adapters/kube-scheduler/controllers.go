// What others do in a cluster that the scheduler relies on: the kubelet, the protection of PodGroups, and the
// controller of disruption budgets. Each acts at once, within the write that makes it act.

package main

import (
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
)

const protection = "scheduling.k8s.io/podgroup-protection"

// start is what follows a binding: the condition PodScheduled, and the kubelet, which runs the pod at once. Start
// times are whole seconds, as in the API (a patch cuts off the rest), and all different, in the order of creation:
// among victims with equal ones the scheduler chooses at random.
func (c *cluster) start(pod *v1.Pod) {
	if !c.setup.NoKubelet && pod.Status.StartTime == nil && !ended(pod) {
		pod.Status.Phase = v1.PodRunning
		pod.Status.StartTime = &metav1.Time{Time: c.journal.start.Add(time.Duration(c.births[pod.UID].index) * time.Second)}
	}
	scheduled := v1.PodCondition{Type: v1.PodScheduled, Status: v1.ConditionTrue, LastTransitionTime: metav1.Now()}
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == v1.PodScheduled {
			pod.Status.Conditions[i] = scheduled
			return
		}
	}
	pod.Status.Conditions = append(pod.Status.Conditions, scheduled)
}

// control lets the controllers act on what has just been written.
func (c *cluster) control() {
	c.protect()
	c.budget()
	if c.setup.ClaimController {
		c.collect()
	}
}

// protect lets go of a deleted PodGroup to which no active pod refers any more.
func (c *cluster) protect() {
	for _, group := range typed[*schedulingv1alpha2.PodGroup](c.store.list(groupsGVR, "")) {
		if group.DeletionTimestamp == nil || len(group.Finalizers) != 1 || group.Finalizers[0] != protection {
			continue
		}
		used := false
		for _, pod := range c.allPods() {
			used = used || pod.Namespace == group.Namespace && groupOf(pod) == group.Name && !ended(pod)
		}
		if !used {
			c.store.drop(groupsGVR, group)
		}
	}
}

func groupOf(pod *v1.Pod) string {
	if pod.Spec.SchedulingGroup == nil || pod.Spec.SchedulingGroup.PodGroupName == nil {
		return ""
	}
	return *pod.Spec.SchedulingGroup.PodGroupName
}

// budget brings the status of every disruption budget up to date. The pods that a budget selects are taken for one
// workload that wants as many as there are; a bound pod that is not being deleted is healthy.
func (c *cluster) budget() {
	for _, pdb := range typed[*policyv1.PodDisruptionBudget](c.store.list(budgetsGVR, "")) {
		selector, err := metav1.LabelSelectorAsSelector(pdb.Spec.Selector)
		if err != nil {
			selector = labels.Nothing()
		}
		expected, healthy := 0, 0
		for _, pod := range c.allPods() {
			if pod.Namespace == pdb.Namespace && selector.Matches(labels.Set(pod.Labels)) && !ended(pod) {
				expected++
				if pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil {
					healthy++
				}
			}
		}
		desired := 0
		if most := pdb.Spec.MaxUnavailable; most != nil {
			desired = expected - scaled(most, expected)
		} else if least := pdb.Spec.MinAvailable; least != nil {
			desired = scaled(least, expected)
		}
		status := *pdb.Status.DeepCopy()
		status.ExpectedPods, status.CurrentHealthy, status.DesiredHealthy = int32(expected), int32(healthy), int32(max(desired, 0))
		status.DisruptionsAllowed = int32(max(healthy-max(desired, 0), 0))
		if !equality.Semantic.DeepEqual(status, pdb.Status) {
			pdb.Status = status
			c.store.put(budgetsGVR, pdb, watch.Modified)
		}
	}
}

// scaled is a number, or a share of the total, rounded up.
func scaled(value *intstr.IntOrString, total int) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(value, total, true)
	if err != nil {
		return 0
	}
	return n
}
