"""Weights of a game's evaluation: `positions` plays the games, `learn` does the rounds and fits them."""
