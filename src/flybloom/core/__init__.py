"""The four values, each of which knows only the one before: Encoder, Hasher, Counts, and the read-outs of counts.

With them: how they learn (`recipe`), how they are kept (`files`), and the loops they run on (`_kernels`).
"""
