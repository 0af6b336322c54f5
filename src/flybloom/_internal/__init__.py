"""What every room uses and no user sees: types, checks, threads, files, pages, scores, scikit-learn's private names."""
