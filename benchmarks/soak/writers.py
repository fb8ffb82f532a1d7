"""Many processes write into one file at once: nothing may be lost."""

from __future__ import annotations

import json
import os
from pathlib import Path

from soak.tally import Clock, Tally

WRITERS = 10
GAMES = 3


def writer_trials(tally: Tally, folder: Path, seed: int, times: int, clock: Clock) -> None:
    """Let ten processes add games to one file, `times` times."""
    from beamzero.records.files import add_records, read_records
    from beamzero.records.record import GameRecord

    for number in range(times):
        if clock.is_over:
            return
        kind = (".jsonl", ".txt")[number % 2]
        path = folder / f"games-{number}{kind}"
        processes = []
        for writer in range(WRITERS):
            process = os.fork()
            if process == 0:
                status = 1
                try:
                    names = [f"{writer}-{game}" for game in range(GAMES)]
                    add_records(path, [GameRecord("tic_tac_toe", ("a1", "b2"), (name, "x"), None) for name in names])
                    status = 0
                finally:
                    os._exit(status)
            processes.append(process)
        failed = sum(os.waitpid(process, 0)[1] != 0 for process in processes)
        found = sorted(record.players[0] for record in read_records(path))
        wanted = sorted(f"{writer}-{game}" for writer in range(WRITERS) for game in range(GAMES))
        strays = [stray.name for stray in folder.glob(".writing-*")]
        if failed or found != wanted or strays:
            tally.fail(
                "writers at once", f"{seed}-{number}", f"{failed} failed, {len(found)} games, {json.dumps(strays)}"
            )
        else:
            tally.add(f"times that {WRITERS} writers lost nothing")
        path.unlink()
