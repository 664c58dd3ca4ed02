"""Other schedulers, driven from here: what an adapter is, how one is reached, and what is asked of it."""

from gangproof.adapters.protocol import Adapter, AdapterError

__all__ = ["Adapter", "AdapterError"]
