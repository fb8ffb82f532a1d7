"""Throughput beside that of peers, for `beamzero bench`: `timing` measures; one file each for rules and searches."""
