"""Findings: promises that kube-scheduler v1.36.3 was seen to break, each with the smallest world that shows it."""
