"""What a classifier may be able to do beside fit and predict; docs/benchmarks/peers.md says what each word means."""

SKILLS = ("one pass", "merge", "forget", "new classes", "distributed")
