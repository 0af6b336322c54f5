"""What asv measures in each version: time, memory, and accuracy beside them. No benchmark here needs a data set."""
