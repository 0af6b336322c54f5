"""Encodings: steps that are fitted to a sketch and applied to rows before hashing."""
