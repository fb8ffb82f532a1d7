"""The ways to train that come with the package, each in a folder that holds all that is particular to it.

A folder reads in this order: `settings` (what a run can be told), `iterate` (what an iteration does, with the modules
beside it that only this algorithm needs) and `agent` (how what was learned is kept, and how it plays).
"""

from __future__ import annotations

BUILT_IN_ALGORITHMS = {
    "probs": "beamzero.algorithms.probs.iterate:Probs",
    "alphazero": "beamzero.algorithms.alphazero.iterate:AlphaZero",
    "td": "beamzero.algorithms.td.iterate:TD",
}
"""By name: the class, which is imported when it is asked for."""
