"""Learning from sources of any size, with checkpoints and bars."""
