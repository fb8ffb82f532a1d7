"""Agents that ship: measure one, write it with its claims into the package, and write docs/agents.md from all of them.

    python benchmarks/ship.py add NAME FILE --made "beamzero train ..." --seconds 442 --device "NVIDIA H200" \
        --battle lookahead:3 400 "" --battle alphabeta:depth=7 200 sims=100 --errors 1000 "" --errors 100 seconds=0.2
    python benchmarks/ship.py claim NAME --battle lookahead:2 400 sims=16
    python benchmarks/ship.py note NAME "python benchmarks/...: what came of it"
    python benchmarks/ship.py page

Each --battle is an opponent, a number of games and how the agent searches ("" for one look); each --errors a number of
solved positions of each class, and the same. `claim` measures more of an agent that ships. Needs a checkout: it writes
into beamzero/agents.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beamzero.arena.claims import BattleClaim, Claim, ErrorsClaim, read_claims
from beamzero.arena.truth import load_truth
from beamzero.core.spec import quote
from beamzero.games import make_game
from beamzero.players.trained import shipped_agents
from beamzero.storage.agentfile import load_agent, save_agent

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "beamzero" / "agents"
PAGE = ROOT / "docs" / "agents.md"

HEAD = """# Agents that ship

<!-- Written by `python benchmarks/ship.py page` from what the agents' files say: change those, not this page. -->

Every trained agent that comes with the package, with its strength. Play against the one of a game, at `--level`
beginner, easy, medium, hard or full ([levels](#levels)):

    beamzero play GAME --level easy
    beamzero agents --json            # settings, training and claims of each
    beamzero verify-agents            # measures all of this again, with other games
    beamzero verify-agents NAME

Each agent is one file in `beamzero/agents`, with its settings, how it was made and what was measured of it inside. All
were measured on two cores of an x86-64 server CPU.

- **A claim holds** if its interval and the one that is found meet.
- **Battles** have two random first plies, or the game's own dice, and each opening is played with both colours.
- **Errors** are moves that throw away what a solved position is worth ([truth.md](truth.md)).
- **One look** is a move by the net alone, without a search.

## Levels

`alphazero:NAME,level=easy`, and so `probs:` and `td:`, of any file or run:

| level | search | random moves |
|---|---|---|
| beginner | one look | every other move |
| easy | one look | one in four |
| medium | one look | one in ten |
| hard | one look | none |
| full | a second a move (AlphaZero), 100 expansions (PROBS) or all ends of its turn (TD) | none |
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("page")
    note = commands.add_parser("note")
    note.add_argument("name", choices=shipped_agents())
    note.add_argument("text")
    claim = commands.add_parser("claim")
    claim.add_argument("name", choices=shipped_agents())
    add = commands.add_parser("add")
    add.add_argument("name")
    add.add_argument("file", type=Path)
    add.add_argument("--made", required=True, help="the command that trained it")
    add.add_argument("--seconds", type=float, required=True, help="how long that took")
    add.add_argument("--device", required=True)
    for command in (add, claim):
        command.add_argument("--battle", nargs=3, action="append", default=[], metavar=("OPPONENT", "GAMES", "SEARCH"))
        command.add_argument("--errors", nargs=2, action="append", default=[], metavar=("POSITIONS", "SEARCH"))
    arguments = parser.parse_args()
    if arguments.command == "add":
        ship(arguments)
    if arguments.command == "claim":
        path = FOLDER / f"{arguments.name}.safetensors"
        tensors, info = load_agent(path)
        new = measured_claims(arguments, path, info)
        old = [claim for claim in read_claims(info) if claim.text not in {one.text for one in new}]
        info["claims"] = [claim.as_json() for claim in (*old, *new)]
        save_agent(path, tensors, info)
    if arguments.command == "note":
        tensors, info = load_agent(FOLDER / f"{arguments.name}.safetensors")
        info["made"].setdefault("notes", []).append(arguments.text)
        save_agent(FOLDER / f"{arguments.name}.safetensors", tensors, info)
    PAGE.write_text(page())


def ship(arguments: argparse.Namespace) -> None:
    """Measure an agent and write it into the package."""
    tensors, info = load_agent(arguments.file)
    info["claims"] = [claim.as_json() for claim in measured_claims(arguments, arguments.file, info)]
    info["made"] = {
        "command": arguments.made, "seconds": arguments.seconds, "device": arguments.device,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }  # fmt: skip
    FOLDER.mkdir(exist_ok=True)
    save_agent(FOLDER / f"{arguments.name}.safetensors", tensors, info)


def measured_claims(arguments: argparse.Namespace, file: Path, info: Mapping[str, Any]) -> list[Claim]:
    """Measure what the arguments ask of an agent."""
    game = make_game(info["game"])
    text = f"{info['algorithm']}:{quote(str(file))}"
    wanted: list[Claim] = [BattleClaim(against, int(games), 0, 0, 1, how) for against, games, how in arguments.battle]
    for positions, how in arguments.errors:
        classes = ["all", load_truth(game, 1).classes[-1]]
        wanted += [ErrorsClaim(name, int(positions), 0, 0, 1, how) for name in classes]
    claims: list[Claim] = []
    for claim in wanted:
        found = claim.measure(game, text, seed=0)
        claims.append(dataclasses.replace(claim, **found._asdict()))
        print(f"{claim.text} {found.value:.4f} [{found.low:.4f}, {found.high:.4f}]", flush=True)
    return claims


def page() -> str:
    """Write docs/agents.md."""
    parts = [HEAD]
    for name, path in shipped_agents().items():
        _, info = load_agent(path)
        made = info["made"]
        megabytes = path.stat().st_size / 1e6
        parts.append(
            f"\n## {name}\n\nPlays {info['game']}, trained by {info['algorithm']}; {megabytes:.1f} MB,"
            f" {info['iterations']} iterations, {made['seconds']:.0f} s on one {made['device']}, {made['date']}:\n\n"
            f"    {made['command']}\n\n| | | 95% interval |\n|---|---|---|\n"
        )
        for claim in read_claims(info):
            parts.append(f"| {claim.text} | {claim.value:.3f} | {claim.low:.3f} to {claim.high:.3f} |\n")
        parts += [f"\n{note}\n" for note in made.get("notes", ())]
    return "".join(parts)


if __name__ == "__main__":
    main()
