"""Alpha-beta: `transpositions` remembers positions, `negamax` is the compiled loop, `alphabeta` deepens it."""
