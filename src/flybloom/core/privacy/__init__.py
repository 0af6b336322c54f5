"""Differentially private counts: noise from OpenDP, and privacy accounting."""
