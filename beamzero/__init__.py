"""Train, measure and play agents for two-player board games."""

__version__ = "0.1.0"
