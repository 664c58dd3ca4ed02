"""Preemption: whom a pod or a group evicts, and what it must never do (SEMANTICS section 7)."""
