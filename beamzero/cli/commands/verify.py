"""`beamzero verify-agents`: measures again what the files of shipped agents claim of their strength."""

from __future__ import annotations

import functools
from typing import Annotated

import typer

from beamzero.arena.claims import Claim, Measured, read_claims
from beamzero.cli.common import AsJson, Seed, out, print_json, progress_bar
from beamzero.core.spec import unknown
from beamzero.games import make_stored_game
from beamzero.players.trained import load_info, shipped_agents


def verify_agents(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[AGENT]...", help="Names of shipped agents; all of them by default.")
    ] = None,
    seed: Seed = 1,
    json: AsJson = False,
) -> int:
    """Measure again the strength that the files of shipped agents claim; exit status 1 where a claim does not hold.

    A claim holds if the interval found now overlaps the one in the file. Other seeds give other games.
    """
    shipped = shipped_agents()
    for name in names or ():
        if name not in shipped:
            raise unknown("shipped agent", name, shipped)
    rows = []
    for name in names or shipped:
        info = load_info(shipped[name])
        game = make_stored_game(info["game"])
        for claim in read_claims(info):
            with progress_bar("verifying") as update:
                progress = functools.partial(update, f"{name}: {claim.text}")
                found = claim.measure(game, f"{info['algorithm']}:{name}", seed, progress)
            rows.append((name, claim, found))
            if not json:  # as they come: all of them take half an hour
                _show(name, claim, found)
    broken = sum(not claim.holds(found) for _, claim, found in rows)
    if json:
        print_json(
            {
                "holds": not broken,
                "claims": [
                    {
                        "agent": name, "claim": claim.text, "claimed": [claim.value, claim.low, claim.high],
                        "found": list(found), "holds": claim.holds(found),
                    }
                    for name, claim, found in rows
                ],
            }
        )  # fmt: skip
    elif broken:
        out.print(f"{broken} of {len(rows)} claims do not hold", style="red")
    else:
        out.print(f"all {len(rows)} claims hold")
    return 1 if broken else 0


def _show(name: str, claim: Claim, found: Measured) -> None:
    """Print a claim and below it the two values, in lines that fit into 80 columns."""
    out.print(f"{name}: {claim.text}", soft_wrap=True)
    before, now = (f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]" for one in (claim, found))
    out.print(f"  {before} claimed, {now} now: {'holds' if claim.holds(found) else 'DOES NOT HOLD'}", soft_wrap=True)
