"""``python -m beamzero`` from a bare checkout is the same as the installed command."""

import sys

from beamzero.cli import main

sys.exit(main())
