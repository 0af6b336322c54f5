"""Hashing: connections from a seed, sums, winners, and fingerprints."""
