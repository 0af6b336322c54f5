"""What users hold: thin shells around an encoder, a hasher, counts and their read-outs."""
