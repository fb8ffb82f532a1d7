"""Games of the pgx library: `boards` draws them, `games` makes each a Game."""
