"""Settings of all experiments: quick, standard and full, as TOML."""
