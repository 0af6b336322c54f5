"""Public estimators: thin shells around an encoder, a hasher, counts and read-outs."""
