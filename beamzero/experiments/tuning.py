"""Studies of Connect Four with one setting changed at a time, then with all that helped together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beamzero.experiments.study import SOLVED, Panel, Piece, Study, Trial

Variants = Mapping[str, Mapping[str, Any]]
"""By what is changed, in words: the settings."""

PROBS: Variants = {
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

_HELPED: Variants = {
    "three padded layers": PROBS["three padded layers"],
    "mirror images": PROBS["mirror images"],
    "falling rates": PROBS["rates fall to 0.05"],
    "Q in V": PROBS["half of Q in V"],
    "temperature 0.3": PROBS["temperature 0.3"],
}
"""Changes that did better than none, alone, by few seeds and chosen after looking. The temperature did so by less
than its interval; a small V did too, but is another net.
"""


def _together(*without: str, **changes: Any) -> dict[str, Any]:
    """The settings of all that helped but some, and other changes."""
    merged: dict[str, Any] = {}
    for words, settings in _HELPED.items():
        if words not in without:
            merged |= settings
    return merged | changes


_FOUR_LAYERS = "conv:channels=64-64-64-64,dense=128,padding=same"

PROBS_TOGETHER: Variants = {
    "nothing": {},
    "all that helped": _together(),
    **{f"all but {words}": _together(words) for words in _HELPED},
    "all and E 100": _together(expand=100),
    "all and batches of 512": _together(value_batch_size=512, q_batch_size=512),
    "all and four wider layers": _together(value_net=_FOUR_LAYERS, q_net=_FOUR_LAYERS),
}

ALPHAZERO: Variants = {
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
"""Lines in the picture, which could not be told apart if they were all."""


_PROBS_SETTINGS = {"expand": 10, "rate_every": 25, "rate_games": 100, "checkpoint_every": 100}


def tune_probs(seeds: int) -> Study:
    about = "Connect Four by PROBS, the paper's larger nets, E 10: one setting changed at a time"
    return _tuning("probs-tuning", about, "connect_four_paper_large", _PROBS_SETTINGS, PROBS, seeds)


def combine_probs(seeds: int) -> Study:
    about = "Connect Four by PROBS: what helped alone, together, and with one of it taken back at a time"
    return _tuning("probs-together", about, "connect_four_paper_large", _PROBS_SETTINGS, PROBS_TOGETHER, seeds)


def tune_alphazero(seeds: int) -> Study:
    settings = {
        "iterations": 20, "games": 1024, "play_on": 42, "sims": 32, "window": 250_000,
        "batches": 100, "batch_size": 2048,
        "net": "conv:channels=48-48-48-48,dense=96,padding=same",
        "rate_every": 10, "rate_games": 100, "checkpoint_every": 20, "keep_checkpoints": 1,
    }  # fmt: skip
    about = "Connect Four by AlphaZero, 20 x 1024 games at a time with 32 simulations: one setting changed at a time"
    return _tuning("alphazero-tuning", about, "connect_four_alphazero_strong", settings, ALPHAZERO, seeds)


def _tuning(name: str, about: str, recipe: str, settings: Mapping[str, Any], variants: Variants, seeds: int) -> Study:
    return Study(
        name=name,
        about=about,
        pieces=tuple(
            Piece(recipe, {"change": words}, {**settings, **changes}, seed)
            for seed in range(seeds)
            for words, changes in variants.items()
        ),
        panels=(Panel("by what is changed", "change", {"change": tuple(variants)[:_SHOWN]}),),
        trials=(Trial("lookahead:3", 400), Trial(SOLVED, 500)),
        alike=False,
    )
