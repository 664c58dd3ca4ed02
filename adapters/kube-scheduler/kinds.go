// The kinds of objects that a scenario may create, and how their JSON becomes an object.

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
)

type kind struct {
	apiVersion string
	namespaced bool
}

var kinds = map[string]kind{
	"DeviceClass":           {"resource.k8s.io/v1", false},
	"Namespace":             {"v1", false},
	"Node":                  {"v1", false},
	"PersistentVolume":      {"v1", false},
	"PersistentVolumeClaim": {"v1", true},
	"Pod":                   {"v1", true},
	"PodDisruptionBudget":   {"policy/v1", true},
	"PodGroup":              {"scheduling.k8s.io/v1alpha2", true},
	"PriorityClass":         {"scheduling.k8s.io/v1", false},
	"ReplicationController": {"v1", true},
	"ReplicaSet":            {"apps/v1", true},
	"ResourceClaim":         {"resource.k8s.io/v1", true},
	"ResourceClaimTemplate": {"resource.k8s.io/v1", true},
	"ResourceSlice":         {"resource.k8s.io/v1", false},
	"Service":               {"v1", true},
	"StatefulSet":           {"apps/v1", true},
	"StorageClass":          {"storage.k8s.io/v1", false},
	"CSIDriver":             {"storage.k8s.io/v1", false},
	"CSINode":               {"storage.k8s.io/v1", false},
	"Workload":              {"scheduling.k8s.io/v1alpha2", true},
}

var (
	podsGVR    = gvrOf("Pod")
	groupsGVR  = gvrOf("PodGroup")
	claimsGVR  = gvrOf("ResourceClaim")
	budgetsGVR = gvrOf("PodDisruptionBudget")
	classesGVR = gvrOf("PriorityClass")
	codecs     = serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict)
)

func gvrOf(name string) schema.GroupVersionResource {
	gvr, _ := meta.UnsafeGuessKindToResource(schema.FromAPIVersionAndKind(kinds[name].apiVersion, name))
	return gvr
}

// decode reads a whole object; its apiVersion may be left out.
func decode(raw json.RawMessage) (runtime.Object, schema.GroupVersionResource, error) {
	var t struct {
		metav1.TypeMeta
		Metadata struct{ Name string }
	}
	none := schema.GroupVersionResource{}
	if err := json.Unmarshal(raw, &t); err != nil {
		return nil, none, fmt.Errorf("object: cannot be read: %w", err)
	}
	k, known := kinds[t.Kind]
	switch {
	case !known:
		return nil, none, fmt.Errorf("object.kind: found %q, expected one of %s", t.Kind, kindNames())
	case t.APIVersion != "" && t.APIVersion != k.apiVersion:
		return nil, none, fmt.Errorf("%s.apiVersion: found %q, expected %q", t.Kind, t.APIVersion, k.apiVersion)
	case t.Metadata.Name == "":
		return nil, none, fmt.Errorf("%s.metadata.name: found nothing, expected a name", t.Kind)
	}
	gvk := schema.FromAPIVersionAndKind(k.apiVersion, t.Kind)
	object, _, err := codecs.UniversalDeserializer().Decode(raw, &gvk, nil)
	if err != nil {
		return nil, none, fmt.Errorf("%s %s: found %w", t.Kind, t.Metadata.Name, err)
	}
	m := metaOf(object)
	if k.namespaced && m.GetNamespace() == "" {
		m.SetNamespace(metav1.NamespaceDefault)
	} else if !k.namespaced && m.GetNamespace() != "" {
		return nil, none, fmt.Errorf("%s %s: found namespace %q, expected none", t.Kind, t.Metadata.Name, m.GetNamespace())
	}
	return object, gvrOf(t.Kind), nil
}

// reference reads Kind/namespace/name.
func reference(text string) (gvr schema.GroupVersionResource, namespace, name string, err error) {
	parts := strings.Split(text, "/")
	k, known := kinds[parts[0]]
	if !known || len(parts) != 3 || k.namespaced == (parts[1] == "") || parts[2] == "" {
		return gvr, "", "", fmt.Errorf("step.delete: found %q, expected Kind/namespace/name, the namespace empty if it has none, the kind one of %s", text, kindNames())
	}
	return gvrOf(parts[0]), parts[1], parts[2], nil
}

func kindNames() string { return strings.Join(slices.Sorted(maps.Keys(kinds)), ", ") }

func metaOf(object runtime.Object) metav1.Object {
	m, err := meta.Accessor(object)
	if err != nil {
		panic(err) // every kind has metadata
	}
	return m
}

// keyOf is how the protocol calls an object: its name in namespace default, else namespace/name.
func keyOf(m metav1.Object) string { return key(m.GetNamespace(), m.GetName()) }

func key(namespace, name string) string {
	if namespace == metav1.NamespaceDefault || namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// splitKey is the way back.
func splitKey(key string) (namespace, name string) {
	if namespace, name, found := strings.Cut(key, "/"); found {
		return namespace, name
	}
	return metav1.NamespaceDefault, key
}
