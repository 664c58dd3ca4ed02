"""From text to objects: manifests, dumps and scenario files."""
