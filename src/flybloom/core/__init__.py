"""The four values, each of which knows only the one before: Encoder, Hasher, Counts, and the read-outs of counts."""
