// The real controller of ResourceClaims, beside the scheduler: it makes the claims of groups and pods from templates,
// names them in the status, and takes back what nobody uses any more. It sees one change after another, in their order,
// each with all that follows from it, and before anything else goes on; interleaved it takes turns with the rest. The
// garbage collector, which removes a claim whose owner is gone, is the cluster's.

package main

import (
	"context"
	"math"
	"strconv"
	"sync"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/applyconfigurations"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	schedulingapply "k8s.io/client-go/applyconfigurations/scheduling/v1alpha2"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	resourcev1client "k8s.io/client-go/kubernetes/typed/resource/v1"
	schedulingv1alpha2client "k8s.io/client-go/kubernetes/typed/scheduling/v1alpha2"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/resourceclaim"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/utils/ptr"
)

// startClaimController makes the controller and lets it read the cluster.
func (s *scenario) startClaimController() error {
	ctx, cancel := context.WithCancel(context.Background())
	cs := &controllerClient{Clientset: s.controllerClientset(), calls: s.calls, gone: ctx.Done()}
	shared := informers.NewSharedInformerFactory(cs, 0)
	controller, err := resourceclaim.NewController(klog.Background(), resourceclaim.Features{
		AdminAccess:            enabled(features.DRAAdminAccess),
		PrioritizedList:        enabled(features.DRAPrioritizedList),
		WorkloadResourceClaims: enabled(features.DRAWorkloadResourceClaims),
	}, cs, shared.Core().V1().Pods(), shared.Scheduling().V1alpha2().PodGroups(),
		shared.Resource().V1().ResourceClaims(), shared.Resource().V1().ResourceClaimTemplates())
	if err != nil {
		cancel()
		return err
	}
	shared.Start(ctx.Done())
	synctest.Wait()
	ended := make(chan struct{})
	go func() { controller.Run(ctx, max(s.setup.Parallelism, 1)); close(ended) }()
	s.stopControllers = func() {
		cancel()
		<-ended
		shared.Shutdown()
	}
	s.quiesce()
	return nil
}

// controllerClientset is a client whose watches show all that happens. Events that are recorded come to nothing.
func (s *scenario) controllerClientset() *fake.Clientset {
	c, cs := s.cluster, &fake.Clientset{}
	inTurn := func(e watch.Event, resource string, gone <-chan struct{}) {
		version, _ := strconv.Atoi(metaOf(e.Object).GetResourceVersion())
		_ = s.calls.turn(context.Background(), gone, "control/"+resource, version-math.MaxInt32)
	}
	cs.AddReactor("*", "events", func(clienttesting.Action) (bool, runtime.Object, error) { return true, &v1.Event{}, nil })
	cs.AddReactor("*", "*", clienttesting.ObjectReaction(c))
	cs.AddWatchReactor("*", func(a clienttesting.Action) (bool, watch.Interface, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		all := func(e watch.Event) (watch.Event, bool) { return e, true }
		return true, c.store.watch(a.GetResource(), a.GetNamespace(), all, inTurn), nil
	})
	return cs
}

// Apply is server-side apply, by the library that an API server has it from.
func (c *cluster) Apply(gvr schema.GroupVersionResource, applied runtime.Object, namespace string, options ...metav1.PatchOptions) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	live, err := c.store.get(gvr, namespace, metaOf(applied).GetName())
	if err != nil {
		return err
	}
	gvk := applied.GetObjectKind().GroupVersionKind()
	live.GetObjectKind().SetGroupVersionKind(gvk)
	types := applyconfigurations.NewTypeConverter(scheme.Scheme)
	manager, err := managedfields.NewDefaultFieldManager(types, scheme.Scheme, noDefaults{}, scheme.Scheme, gvk, gvk.GroupVersion(), "", nil)
	if err != nil {
		return err
	}
	after, err := manager.Apply(live, applied, options[0].FieldManager, ptr.Deref(options[0].Force, false))
	if err != nil {
		return err
	}
	return c.write(gvr, after)
}

type noDefaults struct{}

func (noDefaults) Default(runtime.Object) {}

// name gives a new claim that has but the beginning of a name the first that no claim has, and that nobody still calls
// one that is gone. An API server draws one.
func (c *cluster) name(m metav1.Object) {
	called := map[string]bool{}
	for _, pod := range c.allPods() {
		for _, status := range pod.Status.ResourceClaimStatuses {
			called[pod.Namespace+"/"+ptr.Deref(status.ResourceClaimName, "")] = true
		}
	}
	for _, group := range typed[*schedulingv1alpha2.PodGroup](c.store.list(groupsGVR, "")) {
		for _, status := range group.Status.ResourceClaimStatuses {
			called[group.Namespace+"/"+ptr.Deref(status.ResourceClaimName, "")] = true
		}
	}
	for number := 0; m.GetName() == ""; number++ {
		name := m.GetGenerateName() + strconv.Itoa(number)
		if _, err := c.store.get(claimsGVR, m.GetNamespace(), name); err != nil && !called[m.GetNamespace()+"/"+name] {
			m.SetName(name)
		}
	}
}

// collect deletes the claims that were made for a pod or a group that is gone.
func (c *cluster) collect() {
	for _, claim := range typed[*resourcev1.ResourceClaim](c.store.list(claimsGVR, "")) {
		owner := metav1.GetControllerOf(claim)
		if owner == nil || claim.DeletionTimestamp != nil {
			continue
		}
		gvr := podsGVR
		if owner.Kind == "PodGroup" {
			gvr = groupsGVR
		}
		if found, err := c.store.get(gvr, claim.Namespace, owner.Name); err == nil && metaOf(found).GetUID() == owner.UID {
			continue
		}
		c.discard(claimsGVR, claim)
	}
}

// controllerClient lets the calls enter that steps can hold or fail: generate/OWNER, which makes a claim, and record/OWNER,
// which names the claims in the status.
type controllerClient struct {
	*fake.Clientset
	calls *calls
	gone  <-chan struct{}

	mu   sync.Mutex
	last time.Time // of the latest call
	made int       // at that moment
}

// mostCallsAtOnce is more than a controller makes at one moment but where it goes round in a circle.
const mostCallsAtOnce = 200

// slow lets time pass where the controller would go on for ever while time stands still.
func (c *controllerClient) slow() {
	c.mu.Lock()
	if now := time.Now(); now.After(c.last) {
		c.last, c.made = now, 0
	}
	c.made++
	hot := c.made > mostCallsAtOnce
	c.mu.Unlock()
	if hot {
		c.calls.journal.hot()
		time.Sleep(time.Second)
	}
}

func (c *controllerClient) enter(ctx context.Context, name, of string) error {
	c.slow()
	if err := c.calls.failure(name + "/" + of); err != nil {
		return err
	}
	if err := c.calls.await(ctx, c.gone, name+"/"+of); err != nil {
		return err
	}
	return c.calls.failure(name + "/" + of)
}

func (c *controllerClient) CoreV1() corev1client.CoreV1Interface {
	return controlledCore{c.Clientset.CoreV1(), c}
}

func (c *controllerClient) SchedulingV1alpha2() schedulingv1alpha2client.SchedulingV1alpha2Interface {
	return controlledScheduling{c.Clientset.SchedulingV1alpha2(), c}
}

func (c *controllerClient) ResourceV1() resourcev1client.ResourceV1Interface {
	return controlledResources{c.Clientset.ResourceV1(), c}
}

type controlledCore struct {
	corev1client.CoreV1Interface
	c *controllerClient
}

func (i controlledCore) Pods(ns string) corev1client.PodInterface {
	return controlledPods{i.CoreV1Interface.Pods(ns), i.c, ns}
}

type controlledPods struct {
	corev1client.PodInterface
	c  *controllerClient
	ns string
}

func (i controlledPods) ApplyStatus(ctx context.Context, pod *corev1apply.PodApplyConfiguration, o metav1.ApplyOptions) (*v1.Pod, error) {
	if err := i.c.enter(ctx, "record", key(i.ns, *pod.Name)); err != nil {
		return nil, err
	}
	return i.PodInterface.ApplyStatus(ctx, pod, o)
}

type controlledScheduling struct {
	schedulingv1alpha2client.SchedulingV1alpha2Interface
	c *controllerClient
}

func (i controlledScheduling) PodGroups(ns string) schedulingv1alpha2client.PodGroupInterface {
	return controlledGroups{i.SchedulingV1alpha2Interface.PodGroups(ns), i.c, ns}
}

type controlledGroups struct {
	schedulingv1alpha2client.PodGroupInterface
	c  *controllerClient
	ns string
}

func (i controlledGroups) ApplyStatus(ctx context.Context, group *schedulingapply.PodGroupApplyConfiguration, o metav1.ApplyOptions) (*schedulingv1alpha2.PodGroup, error) {
	if err := i.c.enter(ctx, "record", key(i.ns, *group.Name)); err != nil {
		return nil, err
	}
	return i.PodGroupInterface.ApplyStatus(ctx, group, o)
}

type controlledResources struct {
	resourcev1client.ResourceV1Interface
	c *controllerClient
}

func (i controlledResources) ResourceClaims(ns string) resourcev1client.ResourceClaimInterface {
	return controlledClaims{i.ResourceV1Interface.ResourceClaims(ns), i.c, ns}
}

type controlledClaims struct {
	resourcev1client.ResourceClaimInterface
	c  *controllerClient
	ns string
}

func (i controlledClaims) Create(ctx context.Context, claim *resourcev1.ResourceClaim, o metav1.CreateOptions) (*resourcev1.ResourceClaim, error) {
	if owner := metav1.GetControllerOf(claim); owner != nil {
		if err := i.c.enter(ctx, "generate", key(i.ns, owner.Name)); err != nil {
			return nil, err
		}
	}
	return i.ResourceClaimInterface.Create(ctx, claim, o)
}

func (i controlledClaims) UpdateStatus(ctx context.Context, claim *resourcev1.ResourceClaim, o metav1.UpdateOptions) (*resourcev1.ResourceClaim, error) {
	i.c.slow()
	return i.ResourceClaimInterface.UpdateStatus(ctx, claim, o)
}

func (i controlledClaims) Update(ctx context.Context, claim *resourcev1.ResourceClaim, o metav1.UpdateOptions) (*resourcev1.ResourceClaim, error) {
	i.c.slow()
	return i.ResourceClaimInterface.Update(ctx, claim, o)
}
