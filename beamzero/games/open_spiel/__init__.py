"""Games of OpenSpiel: `host` asks its C++ rules, `games` makes each a Game."""
