// Feature gates are global to the process, and a value that is refused stays in them and spoils what comes later;
// so a scenario's gates are first tried on a copy.

package main

import (
	"fmt"
	"slices"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

// gateDefaults holds each gate that can be set, with the value that v1.36 gives it.
var gateDefaults = func() map[string]bool {
	defaults := map[string]bool{}
	for name, spec := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		if !spec.LockToDefault && spec.PreRelease != featuregate.PreAlpha && name != "AllAlpha" && name != "AllBeta" {
			defaults[string(name)] = spec.Default
		}
	}
	return defaults
}()

// checkGates says what is wrong with these gates: unknown, locked, or without one that they depend on.
func checkGates(gates map[string]bool) error {
	names := make([]string, 0, len(gates))
	for name := range gates {
		names = append(names, name)
	}
	slices.Sort(names)
	known := utilfeature.DefaultMutableFeatureGate.GetAll()
	for _, name := range names {
		spec, ok := known[featuregate.Feature(name)]
		_, settable := gateDefaults[name]
		switch {
		case !ok:
			return fmt.Errorf("setup.gates.%s: found an unknown feature gate, expected one of Kubernetes v1.36", name)
		case spec.LockToDefault && gates[name] == spec.Default:
		case spec.LockToDefault:
			return fmt.Errorf("setup.gates.%s: found %t, expected %t, to which it is locked", name, gates[name], spec.Default)
		case !settable:
			return fmt.Errorf("setup.gates.%s: found a gate that stands for others, or for none, expected the single gates", name)
		}
	}
	trial := utilfeature.DefaultFeatureGate.(featuregate.MutableVersionedFeatureGate).DeepCopy()
	if err := trial.SetFromMap(allGates(gates)); err != nil {
		return fmt.Errorf("setup.gates: found %w", err)
	}
	return nil
}

// setGates sets all gates: these, and the others to their defaults.
func setGates(gates map[string]bool) error {
	return utilfeature.DefaultMutableFeatureGate.SetFromMap(allGates(gates))
}

func allGates(gates map[string]bool) map[string]bool {
	all := make(map[string]bool, len(gateDefaults))
	for name, value := range gateDefaults {
		all[name] = value
	}
	for name, value := range gates {
		all[name] = value
	}
	return all
}

func enabled(gate featuregate.Feature) bool { return utilfeature.DefaultFeatureGate.Enabled(gate) }
