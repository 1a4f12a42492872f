"""Pseudo labels: the pool in buckets, the teacher's probabilities of it, and the guesses that are certain enough."""
