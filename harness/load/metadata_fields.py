"""The fields that objects of every kind have: version, kind and metadata."""

from __future__ import annotations

from gangproof.load.schema import BOOLEAN, IGNORED, STRING, STRINGS, TEXT_MAP, Fields, ListOf, Shape


def ignored(names: str) -> dict[str, Shape]:
    """Fields, named with blanks between, that decide nothing."""
    return dict.fromkeys(names.split(), IGNORED)


METADATA = Fields(
    {
        "name": STRING,
        "namespace": STRING,
        "labels": TEXT_MAP,
        "finalizers": STRINGS,
        "creationTimestamp": STRING,
        "deletionTimestamp": STRING,
        "uid": STRING,
        "resourceVersion": STRING,
        "ownerReferences": ListOf(
            Fields(
                {
                    "apiVersion": STRING,
                    "kind": STRING,
                    "name": STRING,
                    "uid": STRING,
                    "controller": BOOLEAN,
                    **ignored("blockOwnerDeletion"),
                }
            )
        ),
        **ignored("generateName selfLink generation deletionGracePeriodSeconds annotations managedFields"),
    }
)
TYPE: dict[str, Shape] = {"apiVersion": STRING, "kind": STRING, "metadata": METADATA}
