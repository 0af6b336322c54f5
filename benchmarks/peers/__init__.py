"""Flybloom beside its peers: the same data, threads and rounds for all."""
