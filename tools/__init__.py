"""What only developers of TenonOS run: rules, tests, benches, measured cards."""
