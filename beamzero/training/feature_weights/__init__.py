"""Weights of a game's evaluation: `learn` does the rounds, `positions` plays the games, `regression` fits them."""
