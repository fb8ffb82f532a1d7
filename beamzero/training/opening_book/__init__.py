"""Opening books: made from games of an agent against itself, or from its answers after a deep search."""
