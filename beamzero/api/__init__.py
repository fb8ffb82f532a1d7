"""The front door's functions; `beamzero` itself lists them, and imports each when it is asked for."""
