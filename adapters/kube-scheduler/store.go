// Where the objects live: what an API server has below its rules. It is an ObjectTracker of client-go's fake
// clients with what the scheduler needs and theirs lacks: resource versions over all kinds (it ignores an update
// without a new one), lists in the order of keys, and watches that may come late and never overflow.

package main

import (
	"cmp"
	"slices"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

type store struct {
	objects  map[schema.GroupVersionResource]map[types.NamespacedName]runtime.Object
	version  int
	watchers []*watcher
}

func newStore() *store {
	return &store{objects: map[schema.GroupVersionResource]map[types.NamespacedName]runtime.Object{}}
}

func (s *store) get(gvr schema.GroupVersionResource, namespace, name string) (runtime.Object, error) {
	object, ok := s.objects[gvr][types.NamespacedName{Namespace: namespace, Name: name}]
	if !ok {
		return nil, apierrors.NewNotFound(gvr.GroupResource(), name)
	}
	return object.DeepCopyObject(), nil
}

// list returns copies of all objects of a kind, in the order of their keys; in every namespace if it is empty.
func (s *store) list(gvr schema.GroupVersionResource, namespace string) []runtime.Object {
	var all []runtime.Object
	for name, object := range s.objects[gvr] {
		if namespace == "" || namespace == name.Namespace {
			all = append(all, object.DeepCopyObject())
		}
	}
	slices.SortFunc(all, func(a, b runtime.Object) int {
		return cmp.Or(cmp.Compare(metaOf(a).GetNamespace(), metaOf(b).GetNamespace()), cmp.Compare(metaOf(a).GetName(), metaOf(b).GetName()))
	})
	return all
}

// listObject is the list as the API has it.
func (s *store) listObject(gvr schema.GroupVersionResource, gvk schema.GroupVersionKind, all []runtime.Object) (runtime.Object, error) {
	list, err := scheme.Scheme.New(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	if err != nil {
		return nil, err
	}
	if m, err := meta.ListAccessor(list); err == nil {
		m.SetResourceVersion(strconv.Itoa(s.version))
	}
	return list, meta.SetList(list, all)
}

// put stores a copy of the object under a new version and tells the watchers.
func (s *store) put(gvr schema.GroupVersionResource, object runtime.Object, event watch.EventType) {
	object = object.DeepCopyObject()
	s.version++
	m := metaOf(object)
	m.SetResourceVersion(strconv.Itoa(s.version))
	if s.objects[gvr] == nil {
		s.objects[gvr] = map[types.NamespacedName]runtime.Object{}
	}
	s.objects[gvr][types.NamespacedName{Namespace: m.GetNamespace(), Name: m.GetName()}] = object
	s.tell(gvr, event, object)
}

func (s *store) drop(gvr schema.GroupVersionResource, object runtime.Object) {
	m := metaOf(object)
	delete(s.objects[gvr], types.NamespacedName{Namespace: m.GetNamespace(), Name: m.GetName()})
	s.version++
	object = object.DeepCopyObject()
	metaOf(object).SetResourceVersion(strconv.Itoa(s.version))
	s.tell(gvr, watch.Deleted, object)
}

func (s *store) tell(gvr schema.GroupVersionResource, event watch.EventType, object runtime.Object) {
	s.watchers = slices.DeleteFunc(s.watchers, (*watcher).stopped)
	for _, w := range s.watchers {
		if w.gvr == gvr && (w.namespace == "" || w.namespace == metaOf(object).GetNamespace()) {
			w.send(watch.Event{Type: event, Object: object.DeepCopyObject()})
		}
	}
}

func (s *store) watch(gvr schema.GroupVersionResource, namespace string, selected func(watch.Event) (watch.Event, bool), late func(watch.Event, string, <-chan struct{})) watch.Interface {
	w := &watcher{
		gvr: gvr, namespace: namespace, selected: selected, late: late,
		out: make(chan watch.Event), wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	s.watchers = append(s.watchers, w)
	go w.pump()
	return w
}

// watcher hands events on in their order, each after late has returned.
type watcher struct {
	gvr       schema.GroupVersionResource
	namespace string
	selected  func(watch.Event) (watch.Event, bool)
	late      func(e watch.Event, resource string, gone <-chan struct{})

	mu     sync.Mutex
	events []watch.Event

	out  chan watch.Event
	wake chan struct{}
	done chan struct{}
	once sync.Once
}

func (w *watcher) ResultChan() <-chan watch.Event { return w.out }

func (w *watcher) Stop() { w.once.Do(func() { close(w.done) }) }

func (w *watcher) stopped() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

func (w *watcher) send(e watch.Event) {
	e, ok := w.selected(e)
	if !ok {
		return
	}
	w.mu.Lock()
	w.events = append(w.events, e)
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *watcher) take() []watch.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.events
	w.events = nil
	return taken
}

func (w *watcher) pump() {
	defer close(w.out)
	for {
		select {
		case <-w.wake:
		case <-w.done:
			return
		}
		for _, e := range w.take() {
			w.late(e, w.gvr.Resource, w.done)
			select {
			case w.out <- e:
			case <-w.done:
				return
			}
		}
	}
}
