"""What every room uses and no user sees: types, checks of what users pass, threads, scikit-learn's private names."""
