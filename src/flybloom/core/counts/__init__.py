"""What is learned: integers that add up and can be taken away again. Knows no features."""
