// The API server as far as the scheduler can tell: creation, updates with optimistic locking for claims, deletion
// with grace periods and finalizers, the binding subresource, and the field selector that hides pods that ended.

package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

type cluster struct {
	setup   *Setup
	journal *journal

	// late is called before each event that the watch on a resource delivers, until which it may wait.
	late func(e watch.Event, resource string, gone <-chan struct{})

	mu     sync.Mutex // held through each write and all that follows from it
	store  *store
	births map[types.UID]birth
	uids   map[types.UID]bool // of all objects that ever were
}

// birth is when a pod was created, and how many were before it.
type birth struct {
	at    time.Time
	index int
}

func newCluster(setup *Setup, journal *journal) *cluster {
	return &cluster{setup: setup, journal: journal, store: newStore(), births: map[types.UID]birth{}, uids: map[types.UID]bool{}}
}

var _ clienttesting.ObjectTracker = &cluster{}

// clientset is a client of this cluster. Its reactors run under a lock of the clientset: they must not use it.
func (c *cluster) clientset() *fake.Clientset {
	cs := &fake.Clientset{}
	cs.AddReactor("create", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if a.GetSubresource() != "binding" {
			return false, nil, nil
		}
		return true, nil, c.bind(a.(clienttesting.CreateAction).GetObject().(*v1.Binding))
	})
	cs.AddReactor("*", "*", clienttesting.ObjectReaction(c))
	cs.AddWatchReactor("*", func(a clienttesting.Action) (bool, watch.Interface, error) {
		w, err := c.Watch(a.GetResource(), a.GetNamespace())
		return true, w, err
	})
	return cs
}

func (c *cluster) Get(gvr schema.GroupVersionResource, namespace, name string, _ ...metav1.GetOptions) (runtime.Object, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.store.get(gvr, namespace, name)
}

func (c *cluster) List(gvr schema.GroupVersionResource, gvk schema.GroupVersionKind, namespace string, options ...metav1.ListOptions) (runtime.Object, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.store.list(gvr, namespace)
	if len(options) > 0 && options[0].FieldSelector != "" {
		all = slices.DeleteFunc(all, ended)
	}
	return c.store.listObject(gvr, gvk, all)
}

// Watch hides pods that ended: the only watch on pods is the scheduler's, which selects the others.
func (c *cluster) Watch(gvr schema.GroupVersionResource, namespace string, _ ...metav1.ListOptions) (watch.Interface, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	hidden := map[types.UID]bool{} // ended, and so gone from this watch
	for _, object := range c.store.list(gvr, namespace) {
		hidden[metaOf(object).GetUID()] = ended(object)
	}
	selected := func(e watch.Event) (watch.Event, bool) {
		if !ended(e.Object) {
			return e, true
		}
		uid := metaOf(e.Object).GetUID()
		shown := !hidden[uid] && e.Type != watch.Added
		hidden[uid] = true
		return watch.Event{Type: watch.Deleted, Object: e.Object}, shown
	}
	return c.store.watch(gvr, namespace, selected, c.late), nil
}

func ended(object runtime.Object) bool {
	pod, ok := object.(*v1.Pod)
	return ok && (pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed)
}

func (c *cluster) Add(object runtime.Object) error { return fmt.Errorf("add: not used") }

func (c *cluster) Create(gvr schema.GroupVersionResource, object runtime.Object, namespace string, _ ...metav1.CreateOptions) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := metaOf(object)
	if m.GetNamespace() == "" {
		m.SetNamespace(namespace)
	}
	if m.GetName() == "" {
		c.name(m)
	}
	if _, err := c.store.get(gvr, namespace, m.GetName()); err == nil {
		return apierrors.NewAlreadyExists(gvr.GroupResource(), keyOf(m))
	}
	object = object.DeepCopyObject()
	if err := c.admit(object, nil); err != nil {
		return err
	}
	if claim, ok := object.(*resourcev1.ResourceClaim); ok {
		c.journal.changed("claim", string(claim.UID), claimed(claim))
	}
	c.store.put(gvr, object, watch.Added)
	c.control()
	return nil
}

// replace is an update by somebody else than the scheduler: it keeps what such an update cannot change.
func (c *cluster) replace(gvr schema.GroupVersionResource, object runtime.Object) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := metaOf(object)
	old, err := c.store.get(gvr, m.GetNamespace(), m.GetName())
	if err != nil {
		return err
	}
	carryOver(object, old)
	if err := c.admit(object, old); err != nil {
		return err
	}
	return c.write(gvr, object)
}

func (c *cluster) Update(gvr schema.GroupVersionResource, object runtime.Object, namespace string, _ ...metav1.UpdateOptions) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := metaOf(object)
	old, err := c.store.get(gvr, namespace, m.GetName())
	if err != nil {
		return err
	}
	if gvr == claimsGVR {
		// Two pods may reserve one claim at the same time; one of them has an old copy.
		if m.GetResourceVersion() != "" && m.GetResourceVersion() != metaOf(old).GetResourceVersion() {
			return apierrors.NewConflict(gvr.GroupResource(), m.GetName(), fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again"))
		}
		claim := inSeconds(object.(*resourcev1.ResourceClaim))
		if err := checkStatus(claim, old.(*resourcev1.ResourceClaim)); err != nil {
			return err
		}
		object = claim
	}
	return c.write(gvr, object)
}

func (c *cluster) Patch(gvr schema.GroupVersionResource, object runtime.Object, namespace string, _ ...metav1.PatchOptions) error {
	return c.Update(gvr, object, namespace)
}

func (c *cluster) write(gvr schema.GroupVersionResource, object runtime.Object) error {
	if c.unchanged(gvr, object) {
		return nil
	}
	c.journal.written(object)
	c.store.put(gvr, object, watch.Modified)
	if m := metaOf(object); m.GetDeletionTimestamp() != nil && !c.lingers(object) {
		c.store.drop(gvr, object)
	}
	c.control()
	return nil
}

// unchanged says whether a write changes nothing: then an API server stores nothing, and nobody hears of it.
func (c *cluster) unchanged(gvr schema.GroupVersionResource, object runtime.Object) bool {
	old, err := c.store.get(gvr, metaOf(object).GetNamespace(), metaOf(object).GetName())
	if err != nil {
		return false
	}
	object = object.DeepCopyObject()
	object.GetObjectKind().SetGroupVersionKind(old.GetObjectKind().GroupVersionKind())
	metaOf(object).SetResourceVersion(metaOf(old).GetResourceVersion())
	metaOf(object).SetManagedFields(metaOf(old).GetManagedFields())
	return equality.Semantic.DeepEqual(old, object)
}

func (c *cluster) Delete(gvr schema.GroupVersionResource, namespace, name string, _ ...metav1.DeleteOptions) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	object, err := c.store.get(gvr, namespace, name)
	if err != nil {
		return err
	}
	if pod, ok := object.(*v1.Pod); ok {
		c.journal.add("delete", keyOf(pod), pod.Spec.NodeName, "")
		c.journal.moved()
	}
	c.discard(gvr, object)
	c.control()
	return nil
}

// discard takes an object away, or marks one that lingers.
func (c *cluster) discard(gvr schema.GroupVersionResource, object runtime.Object) {
	switch m := metaOf(object); {
	case !c.lingers(object):
		c.store.drop(gvr, object)
	case m.GetDeletionTimestamp() == nil:
		m.SetDeletionTimestamp(&metav1.Time{Time: time.Now()})
		c.store.put(gvr, object, watch.Modified)
	}
}

// lingers says whether a deleted object stays for a while: finalizers keep it, and the grace period of a bound pod.
func (c *cluster) lingers(object runtime.Object) bool {
	if len(metaOf(object).GetFinalizers()) > 0 {
		return true
	}
	pod, ok := object.(*v1.Pod)
	if !ok || pod.Spec.NodeName == "" || ended(pod) {
		return false
	}
	grace := pod.Spec.TerminationGracePeriodSeconds
	return c.setup.Graceful || grace != nil && *grace > 0
}

// remove takes a pod away, whatever its grace period and finalizers.
func (c *cluster) remove(namespace, name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	object, err := c.store.get(podsGVR, namespace, name)
	if err != nil {
		return err
	}
	c.store.drop(podsGVR, object)
	c.control()
	return nil
}

// end is the end of a bound pod's containers.
func (c *cluster) end(key string, phase v1.PodPhase) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	namespace, name := splitKey(key)
	object, err := c.store.get(podsGVR, namespace, name)
	if err != nil {
		return err
	}
	pod := object.(*v1.Pod)
	if ended(pod) {
		return fmt.Errorf("pod %s: found %s, expected one that has not ended", key, pod.Status.Phase)
	}
	ev := map[v1.PodPhase]string{v1.PodSucceeded: "finish", v1.PodFailed: "crash"}[phase]
	c.journal.add(ev, key, pod.Spec.NodeName, "")
	pod.Status.Phase = phase
	return c.write(podsGVR, pod)
}

// bind is the subresource pods/binding.
func (c *cluster) bind(b *v1.Binding) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	object, err := c.store.get(podsGVR, b.Namespace, b.Name)
	if err != nil {
		return err
	}
	pod := object.(*v1.Pod)
	conflict := func(text string) error {
		return apierrors.NewConflict(podsGVR.GroupResource(), b.Name, fmt.Errorf("%s", text))
	}
	switch {
	case b.UID != "" && b.UID != pod.UID:
		return conflict("the binding is for another pod of that name")
	case pod.DeletionTimestamp != nil:
		return conflict("the pod is being deleted")
	case pod.Spec.NodeName != "":
		return conflict("the pod is already assigned to node " + pod.Spec.NodeName)
	}
	c.journal.add("bind", keyOf(pod), b.Target.Name, "")
	c.journal.moved()
	pod.Spec.NodeName = b.Target.Name
	pod.Status.NominatedNodeName = "" // gate ClearingNominatedNodeNameAfterBinding
	c.start(pod)
	return c.write(podsGVR, pod)
}

func (c *cluster) born(uid types.UID) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.births[uid].at
}

// position is how many pods were created before the one of that key, if there is one.
func (c *cluster) position(key string) (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	namespace, name := splitKey(key)
	pod, err := c.store.get(podsGVR, namespace, name)
	if err != nil {
		return 0, false
	}
	return c.births[metaOf(pod).GetUID()].index, true
}

// pods are all of them, in the order of their keys.
func (c *cluster) pods() []*v1.Pod {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.allPods()
}

func (c *cluster) allPods() []*v1.Pod { return typed[*v1.Pod](c.store.list(podsGVR, "")) }

func typed[T runtime.Object](objects []runtime.Object) []T {
	all := make([]T, len(objects))
	for i, object := range objects {
		all[i] = object.(T)
	}
	return all
}

// podScheduled is the pod's condition of that type: status/reason, and the message; empty if it has none.
func podScheduled(pod *v1.Pod) (condition, message string) {
	for _, c := range pod.Status.Conditions {
		if c.Type == v1.PodScheduled {
			return strings.TrimSuffix(string(c.Status)+"/"+c.Reason, "/"), c.Message
		}
	}
	return "", ""
}
