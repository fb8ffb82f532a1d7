"""Players, and the texts that name them.

- ``random``: any legal move;
- ``lookahead:2`` (also ``lookahead:depth=2``, ``two_step_lookahead``): sees wins and losses within so many plies;
- ``minimax:depth=3``: plain minimax, with the game's own evaluation at the leaves; ``by=stores`` evaluates by one of
  its features alone, ``by=nothing`` not at all, ``weights=FILE`` by weights that were learned;
- ``alphabeta:depth=6``, ``alphabeta:seconds=1``, ``alphabeta:nodes=100000``: alpha-beta, deeper and deeper up to the
  limit, with likely moves first (not with ``order=false``), a transposition table (``hash=`` MB) and quiescence
  (``quiet=`` plies); ``lanes=64`` expands so many nodes at once; ``endgame=FILE`` looks endings up in a table;
  ``weights=``, ``by=``;
- ``expectiminimax:depth=2``, ``expectiminimax:seconds=1``, ``expectiminimax:nodes=100000``: for games with dice, by
  turns; ``rolls=5`` follows 5 rolls instead of all; ``weights=``, ``by=``;
- ``mcts:sims=200``, ``mcts:seconds=1``, ``mcts:nodes=1000``, ``mcts:evaluations=1000``: Monte Carlo tree search (UCT)
  by random games, without a net; ``c=`` says how much it tries what it seldom tried;
- ``ALGORITHM:PATH``, such as ``probs:runs/connect_four``: an agent that one of `beamzero.algorithms` has trained. PATH
  is a run folder, a .safetensors file or a shipped agent's name; ``seconds=``, ``nodes=`` and ``evaluations=`` limit a
  search, and each algorithm has its own options: ``expand=``, ``depth=`` and ``strict=`` for the beam search of probs,
  ``sims=`` and ``c=`` for the tree search of alphazero, ``depth=`` and ``rolls=`` for td; ``checkpoint=best`` takes
  another checkpoint of a run than the last, and ``level=easy`` plays at a level;
- ``file.py:Class,PATH``: an agent that an algorithm in a file of yours has trained;
- ``file.py:Class,OPTION=VALUE``: a search in a file of yours, with its fields as options, and ``seconds=``, ``nodes=``,
  ``evaluations=``, ``weights=``, ``by=``; ``NAME:OPTION=VALUE`` for one that a package offers;
- ``uci:stockfish,seconds=0.1``: a chess program that speaks UCI, with ``seconds=``, ``depth=`` or ``nodes=`` for each
  move, and ``elo=``, ``skill=``, ``hash=``, ``set="NAME=VALUE;..."``, ``processes=``; also for chess6x6;
- ``gtp:gtp-rhino``: a program that speaks GTP, in battles and ratings; ``set="COMMAND;..."``, ``processes=``,
  ``seconds=`` that it takes for a move at most, ``random=false`` where it always answers alike;
- ``gnubg``, ``gnubg:plies=2``: GNU Backgammon, in battles and ratings; ``processes=``, ``command=`` that starts it;
- ``clairvoyance:worlds=40``: hidden cards are dealt 40 times and solved with open cards; the best on average;
  ``solver=``: ``dds`` for bridge, ``alphabeta`` for endings of it, ``minimax`` for small games;
- ``cfr:iterations=1000``: a small game of hidden cards, solved by CFR+ when the player is made.

In games with hidden cards only those play that see no more than their seat: see `_sees_everything`.

Any of them takes ``book=FILE``, an opening book to play from first: ``alphabeta:depth=6,book=connect_four.book``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from typing import Any

from beamzero.core.errors import BadInput
from beamzero.core.registry import ALGORITHMS, SEARCHES, check_fields
from beamzero.core.spec import Spec, field_types, parse, unknown
from beamzero.games import Game
from beamzero.players.agent_kind import agent_kind, own_file
from beamzero.players.book import with_book
from beamzero.players.built_in import AGENTS
from beamzero.players.levels import find_level
from beamzero.players.options import LIMIT_OPTIONS
from beamzero.players.own_search import make_own_search
from beamzero.players.player import Player, SearchPlayer, check_player
from beamzero.search.protocol import Search

__all__ = ["AGENTS", "Player", "SearchPlayer", "make_player", "starts_program"]


def make_player(name: str, game: Game, others: Collection[str] = ()) -> Player:
    """Make the player that `name` names, for one game.

    `others` are further names that the caller accepts: an error lists them too.
    """
    spec = own_file(parse(name))
    head = spec.head
    if head in _STEPS:
        spec = Spec("lookahead", (*spec.arguments, _STEPS[head]), spec.options)
    make = _maker(spec.head, others)
    if game.hidden and _sees_everything(spec):
        raise BadInput(
            f"{name} would see what {game.name} hides (these do not: {', '.join(_fair())}, one look at a net)"
        )
    if game.num_chance and spec.head not in _with_dice():
        raise BadInput(f"{name} knows no dice, which {game.name} has (these do: {', '.join(_with_dice())})")
    if game.num_chance and "book" in spec.options:
        raise BadInput(f"{name}: a book knows no dice, which {game.name} has")
    options = dict(spec.options)
    book, level = options.pop("book", None), options.pop("level", None)
    if level is not None:
        options = find_level(level, name, spec.head, options).with_level_options(spec.head, options)
    player = make(name.strip(), Spec(spec.head, spec.arguments, options), game)
    check_player(player, 1, with_results=True)
    if level is not None:
        player = find_level(level, name, spec.head).weakened(player)
    return player if book is None else with_book(player, book)


def _maker(head: str, others: Collection[str]) -> Callable[[str, Spec, Game], Player]:
    """Find the function that makes players of one kind; an error lists `others` too."""
    if head in AGENTS:
        return AGENTS[head].make
    if head in SEARCHES:
        return make_own_search
    if head not in ALGORITHMS:
        raise unknown("agent", head, [*AGENTS, *ALGORITHMS, *SEARCHES, *_STEPS, *others])
    return agent_kind(head).make_player


def check_search(kind: Any, name: str) -> None:
    """Raise BadInput, with what is missing, where a class from outside is no `Search` that can be an agent."""
    wrong = f"{name!r} is no search"
    if name in AGENTS or name in ALGORITHMS:
        raise BadInput(f"{name!r} cannot be the name of your search: other agents go by it")
    if not (inspect.isclass(kind) and issubclass(kind, Search)):
        raise BadInput(f"{wrong}: it must be a subclass of beamzero.search.protocol.Search")
    if inspect.isabstract(kind):
        raise BadInput(f"{wrong}: it has no {', '.join(sorted(kind.__abstractmethods__))}")
    check_fields(kind, wrong)
    if taken := sorted({*LIMIT_OPTIONS, "weights", "by", "book", "level"} & set(field_types(kind))):
        raise BadInput(f"{wrong}: every agent has the options {', '.join(taken)}, so its fields need other names")


def starts_program(name: str) -> bool:
    """Tell whether making the agent that `name` names runs another program or a user's Python file."""
    head = parse(name).head
    return head.endswith(".py") or (head in AGENTS and AGENTS[head].starts_program)


def _sees_everything(spec: Spec) -> bool:
    """Tell whether an agent uses the whole state, as all searches and books do; a net uses only `Game.observe`."""
    if "book" in spec.options:
        return True
    if spec.head in ALGORITHMS:
        return "level" in spec.options or agent_kind(spec.head).peeks(spec.options)
    return spec.head not in AGENTS or AGENTS[spec.head].sees_everything


def _fair() -> list[str]:
    """List the agents that see no more than the seat to move."""
    return [name for name, agent in AGENTS.items() if not agent.sees_everything]


def _with_dice() -> list[str]:
    """List the agents that play where chance decides between the moves; a book does not."""
    built_in = [name for name, agent in AGENTS.items() if agent.knows_chance]
    programs = [name for name in built_in if AGENTS[name].starts_program]
    own = [name for name in SEARCHES if SEARCHES[name].knows_chance]
    return [*(name for name in built_in if name not in programs), *sorted(ALGORITHMS), *programs, *own]


_STEPS = {"one_step_lookahead": "1", "two_step_lookahead": "2", "three_step_lookahead": "3"}
