// The defaulting and admission that matter to the scheduler, and what an update cannot change.

package main

import (
	"fmt"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	resourceapi "k8s.io/kubernetes/pkg/apis/resource"
	conversion "k8s.io/kubernetes/pkg/apis/resource/v1"
	"k8s.io/kubernetes/pkg/apis/resource/validation"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/utils/ptr"
)

// admit completes an object before it is stored; old is what it replaces, nil if it is new.
func (c *cluster) admit(object, old runtime.Object) error {
	m := metaOf(object)
	if m.GetUID() == "" {
		m.SetUID(c.newUID(keyOf(m)))
	}
	c.uids[m.GetUID()] = true
	if created := m.GetCreationTimestamp(); created.IsZero() {
		m.SetCreationTimestamp(metav1.Now())
	}
	switch o := object.(type) {
	case *v1.Pod:
		return c.admitPod(o)
	case *schedulingv1alpha2.PodGroup:
		return c.admitPodGroup(o)
	case *v1.Node:
		admitNode(o)
	case *resourcev1.ResourceClaim:
		m.SetCreationTimestamp(inSeconds(o).CreationTimestamp)
		for i := range o.Spec.Devices.Requests {
			if exactly := o.Spec.Devices.Requests[i].Exactly; exactly != nil && exactly.AllocationMode == "" {
				exactly.AllocationMode = resourcev1.DeviceAllocationModeExactCount
			}
			if exactly := o.Spec.Devices.Requests[i].Exactly; exactly != nil && exactly.AllocationMode == resourcev1.DeviceAllocationModeExactCount && exactly.Count == 0 {
				exactly.Count = 1
			}
		}
	}
	return nil
}

// newUID is the key for the first object of that key, and has a number for each later one.
func (c *cluster) newUID(key string) types.UID {
	uid := types.UID(key)
	for n := 2; c.uids[uid]; n++ {
		uid = types.UID(key + "#" + strconv.Itoa(n))
	}
	return uid
}

func (c *cluster) admitPod(pod *v1.Pod) error {
	if !enabled(features.GenericWorkload) {
		pod.Spec.SchedulingGroup = nil
	}
	if pod.Spec.SchedulerName == "" {
		pod.Spec.SchedulerName = v1.DefaultSchedulerName
	}
	if pod.Status.Phase == "" {
		pod.Status.Phase = v1.PodPending
	}
	class, err := c.priorityClass(pod.Spec.PriorityClassName, pod.Spec.Priority)
	if err != nil {
		return fmt.Errorf("pod %s: %w", keyOf(pod), err)
	}
	pod.Spec.Priority = &class.Value
	if pod.Spec.PreemptionPolicy == nil {
		pod.Spec.PreemptionPolicy = class.PreemptionPolicy
	}
	if _, known := c.births[pod.UID]; !known {
		c.births[pod.UID] = birth{time.Now(), len(c.births)}
	}
	if pod.Spec.NodeName != "" {
		c.start(pod)
	}
	return nil
}

// admitPodGroup drops the fields whose gate is off, as an API server does.
func (c *cluster) admitPodGroup(group *schedulingv1alpha2.PodGroup) error {
	spec := &group.Spec
	if !enabled(features.TopologyAwareWorkloadScheduling) {
		spec.SchedulingConstraints = nil
	}
	if !enabled(features.DRAWorkloadResourceClaims) {
		spec.ResourceClaims = nil
	}
	if !enabled(features.WorkloadAwarePreemption) {
		spec.DisruptionMode, spec.Priority, spec.PriorityClassName = nil, nil, ""
		return nil
	}
	class, err := c.priorityClass(spec.PriorityClassName, spec.Priority)
	if err != nil {
		return fmt.Errorf("podGroup %s: %w", keyOf(group), err)
	}
	spec.Priority = &class.Value
	if spec.DisruptionMode == nil {
		mode := schedulingv1alpha2.DisruptionModePod
		spec.DisruptionMode = &mode
	}
	return nil
}

var systemClasses = map[string]int32{"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}

// priorityClass is the class of that name, or the global default, or none with value 0; a value given as a number
// stands as it is.
func (c *cluster) priorityClass(name string, value *int32) (*schedulingv1.PriorityClass, error) {
	found := &schedulingv1.PriorityClass{Value: systemClasses[name]}
	if _, system := systemClasses[name]; !system {
		for _, class := range typed[*schedulingv1.PriorityClass](c.store.list(classesGVR, "")) {
			if class.Name == name || name == "" && class.GlobalDefault {
				found = class
			}
		}
		if name != "" && found.Name == "" && value == nil {
			return nil, fmt.Errorf("priorityClassName: found %q, expected the name of a PriorityClass", name)
		}
	}
	if value != nil {
		found.Value = *value
	}
	return found, nil
}

func admitNode(node *v1.Node) {
	if node.Status.Allocatable == nil {
		node.Status.Allocatable = node.Status.Capacity.DeepCopy()
	}
	if node.Status.Allocatable == nil {
		node.Status.Allocatable = v1.ResourceList{}
	}
	if _, ok := node.Status.Allocatable[v1.ResourcePods]; !ok {
		node.Status.Allocatable[v1.ResourcePods] = resource.MustParse("110")
	}
}

// inSeconds is the claim with its times as an API server stores them.
func inSeconds(claim *resourcev1.ResourceClaim) *resourcev1.ResourceClaim {
	claim = claim.DeepCopy()
	claim.CreationTimestamp = claim.CreationTimestamp.Rfc3339Copy()
	if a := claim.Status.Allocation; a != nil && a.AllocationTimestamp != nil {
		a.AllocationTimestamp = ptr.To(a.AllocationTimestamp.Rfc3339Copy())
	}
	return claim
}

// checkStatus is what the API server says to a new status of a claim: users are unique and at most 256, an allocation
// stays as it is.
func checkStatus(claim, old *resourcev1.ResourceClaim) error {
	var internal, internalOld resourceapi.ResourceClaim
	if err := conversion.Convert_v1_ResourceClaim_To_resource_ResourceClaim(claim, &internal, nil); err != nil {
		return err
	}
	if err := conversion.Convert_v1_ResourceClaim_To_resource_ResourceClaim(old, &internalOld, nil); err != nil {
		return err
	}
	if errs := validation.ValidateResourceClaimStatusUpdate(&internal, &internalOld); len(errs) > 0 {
		return apierrors.NewInvalid(resourcev1.SchemeGroupVersion.WithKind("ResourceClaim").GroupKind(), claim.Name, errs)
	}
	return nil
}

// carryOver keeps what an update through the API does not change.
func carryOver(object, old runtime.Object) {
	m, o := metaOf(object), metaOf(old)
	m.SetUID(o.GetUID())
	m.SetCreationTimestamp(o.GetCreationTimestamp())
	m.SetDeletionTimestamp(o.GetDeletionTimestamp())
	switch n := object.(type) {
	case *v1.Pod:
		if n.Status.Phase == "" {
			n.Status = old.(*v1.Pod).Status
		}
		if n.Spec.NodeName == "" {
			n.Spec.NodeName = old.(*v1.Pod).Spec.NodeName
		}
	case *schedulingv1alpha2.PodGroup:
		n.Status = old.(*schedulingv1alpha2.PodGroup).Status
	case *resourcev1.ResourceClaim:
		n.Status = old.(*resourcev1.ResourceClaim).Status
	}
}
