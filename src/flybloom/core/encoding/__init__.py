"""What the hash sees: rows to features, by steps that are fitted once from sums that add up."""
