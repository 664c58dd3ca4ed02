// The scheduler's client: the fake one of client-go, whose writes first enter as calls. They cannot be caught below
// it, by a reactor: reactors run under a lock of the client, and a goroutine that waits for a lock is not idle.

package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	resourcev1client "k8s.io/client-go/kubernetes/typed/resource/v1"
	schedulingv1alpha2client "k8s.io/client-go/kubernetes/typed/scheduling/v1alpha2"
)

// client belongs to one scheduler and ends with it.
type client struct {
	*fake.Clientset
	calls *calls
	gone  <-chan struct{}
}

func (c *client) enter(ctx context.Context, name string, key string) error {
	return c.calls.enter(ctx, c.gone, name+"/"+key)
}

func (c *client) CoreV1() corev1client.CoreV1Interface { return core{c.Clientset.CoreV1(), c} }

func (c *client) SchedulingV1alpha2() schedulingv1alpha2client.SchedulingV1alpha2Interface {
	return scheduling{c.Clientset.SchedulingV1alpha2(), c}
}

func (c *client) ResourceV1() resourcev1client.ResourceV1Interface {
	return resources{c.Clientset.ResourceV1(), c}
}

type core struct {
	corev1client.CoreV1Interface
	c *client
}

func (i core) Pods(ns string) corev1client.PodInterface {
	return pods{i.CoreV1Interface.Pods(ns), i.c, ns}
}

type pods struct {
	corev1client.PodInterface
	c  *client
	ns string
}

func (i pods) Bind(ctx context.Context, b *v1.Binding, o metav1.CreateOptions) error {
	if err := i.c.enter(ctx, "bind", key(i.ns, b.Name)); err != nil {
		return err
	}
	return i.PodInterface.Bind(ctx, b, o)
}

func (i pods) Patch(ctx context.Context, name string, t types.PatchType, data []byte, o metav1.PatchOptions, sub ...string) (*v1.Pod, error) {
	if err := i.c.enter(ctx, "patch", key(i.ns, name)); err != nil {
		return nil, err
	}
	return i.PodInterface.Patch(ctx, name, t, data, o, sub...)
}

func (i pods) Delete(ctx context.Context, name string, o metav1.DeleteOptions) error {
	if err := i.c.enter(ctx, "delete", key(i.ns, name)); err != nil {
		return err
	}
	i.c.calls.journal.add("evict", key(i.ns, name), "", "")
	return i.PodInterface.Delete(ctx, name, o)
}

type scheduling struct {
	schedulingv1alpha2client.SchedulingV1alpha2Interface
	c *client
}

func (i scheduling) PodGroups(ns string) schedulingv1alpha2client.PodGroupInterface {
	return podGroups{i.SchedulingV1alpha2Interface.PodGroups(ns), i.c, ns}
}

type podGroups struct {
	schedulingv1alpha2client.PodGroupInterface
	c  *client
	ns string
}

func (i podGroups) Patch(ctx context.Context, name string, t types.PatchType, data []byte, o metav1.PatchOptions, sub ...string) (*schedulingv1alpha2.PodGroup, error) {
	if err := i.c.enter(ctx, "condition", key(i.ns, name)); err != nil {
		return nil, err
	}
	return i.PodGroupInterface.Patch(ctx, name, t, data, o, sub...)
}

type resources struct {
	resourcev1client.ResourceV1Interface
	c *client
}

func (i resources) ResourceClaims(ns string) resourcev1client.ResourceClaimInterface {
	return resourceClaims{i.ResourceV1Interface.ResourceClaims(ns), i.c, ns}
}

type resourceClaims struct {
	resourcev1client.ResourceClaimInterface
	c  *client
	ns string
}

func (i resourceClaims) Update(ctx context.Context, claim *resourcev1.ResourceClaim, o metav1.UpdateOptions) (*resourcev1.ResourceClaim, error) {
	if err := i.c.enter(ctx, "claim", key(i.ns, claim.Name)); err != nil {
		return nil, err
	}
	if err := i.c.calls.refused(ctx); err != nil {
		return nil, err
	}
	return i.kept(i.ResourceClaimInterface.Update(ctx, claim, o))
}

func (i resourceClaims) UpdateStatus(ctx context.Context, claim *resourcev1.ResourceClaim, o metav1.UpdateOptions) (*resourcev1.ResourceClaim, error) {
	if err := i.c.enter(ctx, "claim", key(i.ns, claim.Name)); err != nil {
		return nil, err
	}
	if err := i.c.calls.refused(ctx); err != nil {
		return nil, err
	}
	return i.kept(i.ResourceClaimInterface.UpdateStatus(ctx, claim, o))
}

// kept notes that a write came from an old copy: the scheduler will read the claim again, after a while.
func (i resourceClaims) kept(claim *resourcev1.ResourceClaim, err error) (*resourcev1.ResourceClaim, error) {
	if apierrors.IsConflict(err) {
		i.c.calls.again.Store(true)
	}
	return claim, err
}

func (i resourceClaims) Patch(ctx context.Context, name string, t types.PatchType, data []byte, o metav1.PatchOptions, sub ...string) (*resourcev1.ResourceClaim, error) {
	if err := i.c.enter(ctx, "claim", key(i.ns, name)); err != nil {
		return nil, err
	}
	return i.ResourceClaimInterface.Patch(ctx, name, t, data, o, sub...)
}
