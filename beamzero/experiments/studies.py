"""The trainings behind published figures, and behind our own tables of what helps."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from beamzero.core.spec import unknown
from beamzero.experiments.study import ITSELF, Panel, Piece, Study, Trial
from beamzero.experiments.tuning import combine_probs, tune_alphazero, tune_probs


def _figure_1(seeds: int) -> Study:
    return Study(
        name="probs-fig1",
        about="Connect Four with both nets, E 10, 30 and 100, M 2, 3 and 99: Elo by net and by depth",
        pieces=tuple(_connect_four(seeds)),
        panels=(
            Panel("mean over all E and M, by the size of the nets", "net", _AS_PUBLISHED),
            Panel("mean over both nets and all E, by the depth limit M", "M", _AS_PUBLISHED),
        ),
        trials=(Trial("lookahead:3", 400),),
        anchors={"random": 1000, "lookahead:1": 1183, "lookahead:2": 1501, "lookahead:3": 1603},
        turns={"connect_four_paper_small": 19, "connect_four_paper_large": 19},
    )


def _connect_four(seeds: int) -> Iterator[Piece]:
    """All settings with one seed before any with the next: what is there after a part of the time is a whole figure.

    With M = 2 in the strict sense a tree has eight nodes to expand, so that one E stands for all.
    """
    for seed, net in itertools.product(range(seeds), ("small", "large")):
        recipe = f"connect_four_paper_{net}"
        for expand, depth in itertools.product((10, 30, 100), (2, 3, 99)):
            labels = {"net": net, "E": str(expand), "M": str(depth)}
            yield Piece(recipe, labels, {"expand": expand, "depth": depth, **_CONNECT_FOUR}, seed)
        strict = {"expand": 10, "depth": 2, "strict_depth": True}
        yield Piece(recipe, {"net": net, "E": "10", "M": "2 strict"}, {**strict, **_CONNECT_FOUR}, seed)


_AS_PUBLISHED = {"M": ("2", "3", "99")}
_CONNECT_FOUR = {"rate_every": 5, "rate_games": 100, "checkpoint_every": 50}


def _figure_2(seeds: int) -> Study:
    recipes = {"togyzkumalak": "togyzkumalak_paper", "othello": "othello_paper"}
    return Study(
        name="probs-fig2",
        about="Togyzkumalak (E 50, M 5) and Othello (E 500, M 5)",
        pieces=tuple(
            Piece(recipe, {"game": game}, {"checkpoint_every": 10}, seed)
            for seed, (game, recipe) in itertools.product(range(seeds), recipes.items())
        ),
        panels=tuple(Panel(game, where={"game": (game,)}) for game in recipes),
        trials=(Trial("lookahead:2", 400), Trial("lookahead:3", 400)),
        turns={"togyzkumalak_paper": 92, "othello_paper": 61},
    )


def _chess6x6(seeds: int) -> Study:
    # The readme's steps are half moves of ours: its two-step lookahead sees what our lookahead:1 does.
    return Study(
        name="probs-chess6x6",
        about="chess 6x6 as in the readme of PROBS: 100 iterations, then against random, two-step and itself",
        pieces=tuple(
            Piece("chess6x6_readme", {}, {"checkpoint_every": 10, "rate_every": 4}, seed) for seed in range(seeds)
        ),
        panels=(Panel("one look"),),
        trials=(
            Trial("random", 1000, published=0.995),
            Trial("lookahead:1", 1000, published=0.98),
            Trial(ITSELF, 200, search="expand=50", published=0.705),
        ),
    )


STUDIES: dict[str, tuple[Callable[[int], Study], int]] = {
    "probs-fig1": (_figure_1, 3),
    "probs-fig2": (_figure_2, 1),
    "probs-chess6x6": (_chess6x6, 1),
    "probs-tuning": (tune_probs, 3),
    "probs-together": (combine_probs, 3),
    "alphazero-tuning": (tune_alphazero, 2),
}
"""The function that makes each study, and with how many seeds unless someone says otherwise."""


def make_study(name: str, seeds: int | None = None) -> Study:
    """The study of that name; BadInput with all names where there is none."""
    if name not in STUDIES:
        raise unknown("figure", name, STUDIES)
    make, usual = STUDIES[name]
    return make(usual if seeds is None else seeds)
