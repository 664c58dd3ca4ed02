"""The controllers beside the scheduler, as far as they decide: whom they keep, what they make, what they take away."""
