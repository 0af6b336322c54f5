"""Parties that count where their rows are, and add up."""
