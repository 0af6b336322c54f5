"""What is learned: whole numbers that add up and can be taken away again. Knows no features."""
