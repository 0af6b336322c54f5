"""What counts say: novelty, labels, similarity, explanations. Pure functions of counts; nothing here is kept."""
