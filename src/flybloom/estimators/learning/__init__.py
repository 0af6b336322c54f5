"""Training from sources of any size, with checkpoints and progress bars."""
