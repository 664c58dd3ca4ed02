"""From a violation to what a person is shown: small, in sentences, as frames of a picture."""
