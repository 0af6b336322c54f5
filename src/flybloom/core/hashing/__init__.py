"""From features to winners: connections drawn from a seed, the largest sums, and the name of a way of hashing."""
