"""Learning from sources of any size, with checkpoints."""
