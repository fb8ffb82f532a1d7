"""Monte Carlo tree search: `tree` holds nodes, `rollouts` end games, `mcts` is PUCT and UCT, `gumbel` asks mctx."""
