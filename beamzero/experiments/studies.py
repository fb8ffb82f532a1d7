"""All studies: the trainings behind published figures, and behind our own tables of helpful settings."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from beamzero.core.spec import unknown
from beamzero.experiments.study import ITSELF, SOLVED, Panel, Study, StudyRun, Trial

# --- published figures -----------------------------------------------------------------------------------------------


def _figure_1(seeds: int) -> Study:
    return Study(
        name="probs-fig1",
        about="Connect Four with both nets, E 10, 30 and 100, M 2, 3 and 99: Elo by net and by depth",
        runs=tuple(_connect_four(seeds)),
        panels=(
            Panel("mean over all E and M, by the size of the nets", "net", _AS_PUBLISHED),
            Panel("mean over both nets and all E, by the depth limit M", "M", _AS_PUBLISHED),
        ),
        trials=(Trial("lookahead:3", 400),),
        anchors={"random": 1000, "lookahead:1": 1183, "lookahead:2": 1501, "lookahead:3": 1603},
        turns={"connect_four_paper_small": 19, "connect_four_paper_large": 19},
    )


def _connect_four(seeds: int) -> Iterator[StudyRun]:
    """Yield all settings with one seed before any with the next, so that a part of the time gives a whole figure.

    With M = 2 in the strict sense a tree has eight nodes to expand, so that one E stands for all.
    """
    for seed, net in itertools.product(range(seeds), ("small", "large")):
        recipe = f"connect_four_paper_{net}"
        for expand, depth in itertools.product((10, 30, 100), (2, 3, 99)):
            labels = {"net": net, "E": str(expand), "M": str(depth)}
            yield StudyRun(recipe, labels, {"expand": expand, "depth": depth, **_CONNECT_FOUR}, seed)
        strict = {"expand": 10, "depth": 2, "strict_depth": True}
        yield StudyRun(recipe, {"net": net, "E": "10", "M": "2 strict"}, {**strict, **_CONNECT_FOUR}, seed)


_AS_PUBLISHED = {"M": ("2", "3", "99")}
_CONNECT_FOUR = {"rate_every": 5, "rate_games": 100, "checkpoint_every": 50}


def _figure_2(seeds: int) -> Study:
    recipes = {"togyzkumalak": "togyzkumalak_paper", "othello": "othello_paper"}
    return Study(
        name="probs-fig2",
        about="Togyzkumalak (E 50, M 5) and Othello (E 500, M 5)",
        runs=tuple(
            StudyRun(recipe, {"game": game}, {"checkpoint_every": 10}, seed)
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
        runs=tuple(
            StudyRun("chess6x6_readme", {}, {"checkpoint_every": 10, "rate_every": 4}, seed) for seed in range(seeds)
        ),
        panels=(Panel("one look"),),
        trials=(
            Trial("random", 1000, published=0.995),
            Trial("lookahead:1", 1000, published=0.98),
            Trial(ITSELF, 200, search="expand=50", published=0.705),
        ),
    )


# --- one setting changed at a time, then all that helped together ----------------------------------------------------

_Variants = Mapping[str, Mapping[str, Any]]
"""The changed settings, by a name in words."""

_PROBS: _Variants = {
    "nothing": {},
    "temperature 0.3": {"temperature": 0.3},
    "temperature 0.1": {"temperature": 0.1},
    "noise 0.1": {"noise": 0.1},
    "noise 0": {"noise": 0.0},
    "mirror images": {"symmetry": True},
    "rates fall to 0.05": {"final_learning_rate": 0.05},
    "rates 0.001": {"value_learning_rate": 0.001, "q_learning_rate": 0.001},
    "batches of 512": {"value_batch_size": 512, "q_batch_size": 512},
    "two passes": {"value_passes": 2, "q_passes": 2},
    "200 x 500 games": {"iterations": 200, "games": 500, "rate_every": 50},
    "50 x 2000 games": {"iterations": 50, "games": 2000, "rate_every": 12},
    "a quarter of Q in V": {"q_value": 0.25},
    "half of Q in V": {"q_value": 0.5},
    "E 30": {"expand": 30},
    "E 100": {"expand": 100},
    "E from 4 to 30": {"expand": 30, "expand_first": 4},
    "M 3": {"depth": 3},
    "E 8 and M 2 strict": {"expand": 8, "depth": 2, "strict_depth": True},
    "small V": {"value_net": "conv:channels=8-16,dense=32"},
    "three padded layers": {"value_net": "conv:channels=48-48-48,dense=96,padding=same",
                            "q_net": "conv:channels=48-48-48,dense=96,padding=same"},
    "residual nets": {"value_net": "resnet:channels=32,blocks=3,dense=96",
                      "q_net": "resnet:channels=32,blocks=3,dense=96"},
}  # fmt: skip

_HELPED: _Variants = {
    "three padded layers": _PROBS["three padded layers"],
    "mirror images": _PROBS["mirror images"],
    "falling rates": _PROBS["rates fall to 0.05"],
    "Q in V": _PROBS["half of Q in V"],
    "temperature 0.3": _PROBS["temperature 0.3"],
}
"""Changes that did better than none, alone, by few seeds and chosen after the fact. The temperature did so by less
than its interval; a small V did too, but is another net.
"""


def _together(*without: str, **changes: Any) -> dict[str, Any]:
    """Merge the settings that helped, but those named in `without`, and other changes."""
    merged: dict[str, Any] = {}
    for words, settings in _HELPED.items():
        if words not in without:
            merged |= settings
    return merged | changes


_FOUR_LAYERS = "conv:channels=64-64-64-64,dense=128,padding=same"

_PROBS_TOGETHER: _Variants = {
    "nothing": {},
    "all that helped": _together(),
    **{f"all but {words}": _together(words) for words in _HELPED},
    "all and E 100": _together(expand=100),
    "all and batches of 512": _together(value_batch_size=512, q_batch_size=512),
    "all and four wider layers": _together(value_net=_FOUR_LAYERS, q_net=_FOUR_LAYERS),
}

_ALPHAZERO: _Variants = {
    "nothing": {},
    "no noise": {"noise": 0.0},
    "noise 0.1": {"noise": 0.1},
    "c 1.25": {"c": 1.25},
    "c 5": {"c": 5.0},
    "all moves drawn": {"sampled_moves": 0},
    "no random moves first": {"random_plies": 0},
    "6 random moves first": {"random_plies": 6},
    "half the openings with one side random": {"handicap": 0.5},
    "one game at each place": {"play_on": 0, "games": 4608},
    "the outcome alone": {"search_value": 0.0},
    "the search alone": {"search_value": 1.0},
    "window of 50 thousand": {"window": 50_000},
    "window of 1 million": {"window": 1_000_000},
    "no mirror images": {"symmetry": False},
    "rates do not fall": {"final_learning_rate": 1.0},
    "rate 0.005": {"learning_rate": 0.005},
    "16 sims and twice the games": {"sims": 16, "games": 2048},
    "64 sims and half the games": {"sims": 64, "games": 512},
    "gumbel": {"search": "gumbel"},
    "twice the batches": {"batches": 200},
    "residual net": {"net": "resnet:channels=48,blocks=2,dense=96"},
    "six layers": {"net": "conv:channels=48-48-48-48-48-48,dense=96,padding=same"},
}  # fmt: skip

_SHOWN = 4
"""Lines in the picture: more could not be told apart."""

_PROBS_SETTINGS = {"expand": 10, "rate_every": 25, "rate_games": 100, "checkpoint_every": 100}


def _tune_probs(seeds: int) -> Study:
    about = "Connect Four by PROBS, the paper's larger nets, E 10: one setting changed at a time"
    return _tuning("probs-tuning", about, "connect_four_paper_large", _PROBS_SETTINGS, _PROBS, seeds)


def _combine_probs(seeds: int) -> Study:
    about = "Connect Four by PROBS: what helped alone, together, and with one of it taken back at a time"
    return _tuning("probs-together", about, "connect_four_paper_large", _PROBS_SETTINGS, _PROBS_TOGETHER, seeds)


def _tune_alphazero(seeds: int) -> Study:
    settings = {
        "iterations": 20, "games": 1024, "play_on": 42, "sims": 32, "window": 250_000,
        "batches": 100, "batch_size": 2048,
        "net": "conv:channels=48-48-48-48,dense=96,padding=same",
        "rate_every": 10, "rate_games": 100, "checkpoint_every": 20, "keep_checkpoints": 1,
    }  # fmt: skip
    about = "Connect Four by AlphaZero, 20 x 1024 games at a time with 32 simulations: one setting changed at a time"
    return _tuning("alphazero-tuning", about, "connect_four_alphazero_strong", settings, _ALPHAZERO, seeds)


def _tuning(name: str, about: str, recipe: str, settings: Mapping[str, Any], variants: _Variants, seeds: int) -> Study:
    return Study(
        name=name,
        about=about,
        runs=tuple(
            StudyRun(recipe, {"change": words}, {**settings, **changes}, seed)
            for seed in range(seeds)
            for words, changes in variants.items()
        ),
        panels=(Panel("by what is changed", "change", {"change": tuple(variants)[:_SHOWN]}),),
        trials=(Trial("lookahead:3", 400), Trial(SOLVED, 500)),
        alike=False,
    )


# --- all studies by name ---------------------------------------------------------------------------------------------

STUDIES: dict[str, tuple[Callable[[int], Study], int]] = {
    "probs-fig1": (_figure_1, 3),
    "probs-fig2": (_figure_2, 1),
    "probs-chess6x6": (_chess6x6, 1),
    "probs-tuning": (_tune_probs, 3),
    "probs-together": (_combine_probs, 3),
    "alphazero-tuning": (_tune_alphazero, 2),
}
"""The function that makes each study, and the default number of seeds."""


def make_study(name: str, seeds: int | None = None) -> Study:
    """Make the study of that name; BadInput with all names where there is none."""
    if name not in STUDIES:
        raise unknown("figure", name, STUDIES)
    make, usual = STUDIES[name]
    return make(usual if seeds is None else seeds)
