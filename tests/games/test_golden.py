"""The golden playthroughs are what the games still do, to the letter."""

from __future__ import annotations

import pytest

from beamzero.games import GAMES, make_game
from tests.games import golden
from tests.games.play import params


@pytest.mark.parametrize("name", params(GAMES, ["chess", "chess6x6"]))
def test_the_game_goes_as_it_was_written_down(name):
    written = golden.path(name).read_text(encoding="utf-8")
    assert golden.playthrough(make_game(name)) == written, f"meant? then `{golden.COMMAND} {name}`"


def test_no_playthrough_is_left_over():
    assert {file.stem for file in golden.FOLDER.glob("*.txt")} <= set(GAMES)
