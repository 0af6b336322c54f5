"""Differentially private counts: noise of OpenDP, and an account of what was spent."""
