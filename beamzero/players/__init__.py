"""Players, and how a text names one.

- ``random``: any legal move;
- ``lookahead:2`` (also ``two_step_lookahead``): sees wins and losses within so many plies;
- ``minimax:depth=3``: plain minimax, with the game's own evaluation at the leaves; ``by=stores`` evaluates by one of
  its features alone, ``by=nothing`` not at all;
- ``alphabeta:depth=6``, ``alphabeta:seconds=1``, ``alphabeta:nodes=100000``: alpha-beta, deeper and deeper up to the
  limit, with likely moves first, a table of positions and quiescence; ``quiet=``, ``order=``, ``hash=``, ``weights=``,
  ``by=``;
- ``expectiminimax:depth=2``, ``expectiminimax:seconds=1``, ``expectiminimax:nodes=100000``: for games with dice, by
  turns; ``rolls=5`` looks at so many rolls instead of all; ``weights=``, ``by=``;
- ``mcts:sims=200``, ``mcts:seconds=1``: Monte Carlo tree search (UCT) by random games, without a net; also ``c=``;
- ``alphazero:PATH,sims=200``, ``alphazero:PATH,seconds=1``: a trained agent with its search (PUCT); also ``c=``;
  ``alphazero:PATH``: one look at its policy;
- ``probs:PATH``: a trained agent, one look at Q; PATH is a run folder, a .safetensors file or a shipped agent's name;
- ``probs:PATH,expand=200``: the same with a beam search at play; also ``depth=``, ``strict=``;
- ``td:PATH``: a trained agent, the move to the position that it likes best; ``td:PATH,depth=2``: the same with
  expectiminimax, by turns; also ``rolls=``;
- ``probs:RUN,checkpoint=best``, ``alphazero:RUN,checkpoint=best``: another checkpoint of a run than the last.
- ``uci:stockfish,seconds=0.1``: a chess program that speaks UCI, with ``seconds=``, ``depth=`` or ``nodes=`` for each
  move, and ``elo=``, ``skill=``, ``hash=``, ``set="NAME=VALUE;..."``, ``processes=``; also for chess6x6;
- ``gtp:gtp-rhino``: a program that speaks GTP, in battles and ratings; ``set="COMMAND;..."``, ``processes=``;
- ``gnubg``, ``gnubg:plies=2``: GNU Backgammon, in battles and ratings; ``processes=``;
- ``clairvoyance:worlds=40``: hidden cards are dealt so often and solved with open cards; the best on average;
  ``solver=``: ``dds`` for bridge, ``alphabeta`` for endings of it, ``minimax`` for small games;
- ``cfr:iterations=1000``: a small game of hidden cards, solved by CFR+ when the player is made.

Where something is hidden, only those play that choose by what they may know: see `_sees_everything`.

Any of them takes ``book=FILE``, an opening book to play from first: ``alphabeta:depth=6,book=connect_four.book``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from beamzero.errors import BadInput
from beamzero.games import Game
from beamzero.players.book import with_book
from beamzero.players.clairvoyant import make_clairvoyant
from beamzero.players.classic import make_alphabeta, make_expectiminimax, make_minimax
from beamzero.players.external import make_gtp, make_uci
from beamzero.players.gnubg import make_gnubg
from beamzero.players.levels import find_level
from beamzero.players.options import take
from beamzero.players.player import Player, SearchPlayer, check_player
from beamzero.players.solved import make_cfr
from beamzero.players.trained import load_trained
from beamzero.players.trees import make_alphazero, make_mcts
from beamzero.search.beam import BeamSearch
from beamzero.search.evaluator import zero_evaluator
from beamzero.search.expectiminimax import Expectiminimax
from beamzero.search.lookahead import Lookahead
from beamzero.search.protocol import Search
from beamzero.search.simple import AnyMove, BestChild, OneLook
from beamzero.spec import Spec, convert, parse, unknown

__all__ = ["AGENTS", "Player", "SearchPlayer", "make_player", "starts_program"]


def make_player(name: str, game: Game, others: Collection[str] = ()) -> Player:
    """The player that `name` names, for one game.

    `others` are names that the caller takes besides and looks at first: an error lists them too.
    """
    spec = parse(name)
    head = spec.head
    if head in _STEPS:
        spec = Spec("lookahead", (*spec.arguments, _STEPS[head]), spec.options)
    if spec.head not in AGENTS:
        raise unknown("agent", spec.head, [*AGENTS, *_STEPS, *others])
    if game.hidden and _sees_everything(spec):
        raise BadInput(f"{name} would see what {game.name} hides (these do not: {', '.join(_FAIR)}, one look at a net)")
    if game.num_chance and spec.head not in _WITH_DICE:
        raise BadInput(f"{name} knows no dice, which {game.name} has (these do: {', '.join(_WITH_DICE)})")
    if game.num_chance and "book" in spec.options:
        raise BadInput(f"{name}: a book knows no dice, which {game.name} has")
    options = dict(spec.options)
    book, level = options.pop("book", None), options.pop("level", None)
    if level is not None:
        options = find_level(level, name, spec.head, options).settled(spec.head, options)
    player = AGENTS[spec.head](name.strip(), Spec(spec.head, spec.arguments, options), game)
    check_player(player, 1, thinking=True)
    if level is not None:
        player = find_level(level, name, spec.head).weakened(player)
    return player if book is None else with_book(player, book)


def starts_program(name: str) -> bool:
    """Whether the agent that `name` names is another program: who names one decides what is run on this machine."""
    return parse(name).head in ("uci", "gtp", "gnubg")


_FAIR = ("random", "cfr", "clairvoyance")
"""Agents that choose by what the seat to move may know."""


def _sees_everything(spec: Spec) -> bool:
    """Whether an agent looks at the whole state, as all searches and books do; a net sees only what `observe` shows."""
    one_look = spec.head in ("probs", "alphazero") and not spec.options.keys() & {"expand", "sims", "seconds", "level"}
    return not (one_look or spec.head in _FAIR) or "book" in spec.options


_WITH_DICE = ("random", "expectiminimax", "mcts", "alphazero", "probs", "td", "gnubg")
"""Agents that play where chance decides between the moves; a book does not."""


_STEPS = {"one_step_lookahead": "1", "two_step_lookahead": "2", "three_step_lookahead": "3"}


def _random(name: str, spec: Spec, game: Game) -> Player:
    take(spec, name, "", {})
    return SearchPlayer(name, game, AnyMove(), zero_evaluator(game), deterministic=False)


def _lookahead(name: str, spec: Spec, game: Game) -> Player:
    argument, options = take(spec, name, "depth", {"depth": int})
    depth = options.get("depth", argument)
    if depth is None:
        raise BadInput(f"{name} needs a depth, such as lookahead:2")
    search = Lookahead(convert(depth, int, f"{name}: depth") if isinstance(depth, str) else depth)
    return SearchPlayer(name, game, search, zero_evaluator(game), deterministic=False)


def _probs(name: str, spec: Spec, game: Game) -> Player:
    kinds = {"path": str, "checkpoint": str, "expand": int, "depth": int, "strict": bool}
    argument, options = take(spec, name, "path", kinds)
    path = options.get("path", argument)
    if not path:
        raise BadInput(f"{name} needs an agent, such as probs:runs/connect_four or probs:agent.safetensors")
    search: Search = OneLook()
    if "expand" in options:
        search = BeamSearch(options["expand"], options.get("depth", 99), options.get("strict", False))
    elif "depth" in options or "strict" in options:
        raise BadInput(f"{name}: depth and strict belong to a search; give expand=NODES as well")
    trained = load_trained(path, game, options.get("checkpoint", "last"))
    return SearchPlayer(name, game, search, trained.evaluator)


def _td(name: str, spec: Spec, game: Game) -> Player:
    argument, options = take(spec, name, "path", {"path": str, "checkpoint": str, "depth": int, "rolls": int})
    path = options.get("path", argument)
    if not path:
        raise BadInput(f"{name} needs an agent, such as td:runs/backgammon or td:agent.safetensors")
    if "depth" not in options:
        if "rolls" in options:
            raise BadInput(f"{name}: rolls belong to a search; give depth=TURNS as well")
        evaluator = load_trained(path, game, options.get("checkpoint", "last"), "td").evaluator
        return SearchPlayer(name, game, BestChild(), evaluator)
    if not game.num_chance:
        raise BadInput(f"{name}: {game.name} has no chance events, and depth is for games that have")
    try:
        search = Expectiminimax(options["depth"], rolls=options.get("rolls", 0))
    except BadInput as error:
        raise BadInput(f"{name}: {error}") from None
    evaluator = load_trained(path, game, options.get("checkpoint", "last"), "td").evaluator
    return SearchPlayer(name, game, search, evaluator, deterministic=not search.rolls, on_host=True)


AGENTS: Mapping[str, Callable[[str, Spec, Game], Player]] = {
    "random": _random,
    "lookahead": _lookahead,
    "minimax": make_minimax,
    "alphabeta": make_alphabeta,
    "expectiminimax": make_expectiminimax,
    "mcts": make_mcts,
    "probs": _probs,
    "alphazero": make_alphazero,
    "td": _td,
    "uci": make_uci,
    "gtp": make_gtp,
    "gnubg": make_gnubg,
    "cfr": make_cfr,
    "clairvoyance": make_clairvoyant,
}
