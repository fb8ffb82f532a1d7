"""The parts of `benchmarks/soak.py`: each tries to break one thing, for as long as it is let."""
