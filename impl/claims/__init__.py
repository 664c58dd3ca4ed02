"""The scheduler's plugin for devices: which claims a pod has, where they can be met, who uses them (SEMANTICS 8)."""
