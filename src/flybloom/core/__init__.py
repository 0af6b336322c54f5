"""Core values, each depending only on those before: Encoder, Hasher, Counts, and read-outs of counts.

Also learning (`learning`), model files (`files`), and compiled kernels (`_kernels`).
"""
