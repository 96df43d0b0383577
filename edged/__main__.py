"""`python -m edged`: the same as the command `edged`."""

import sys

from edged.cli import main

sys.exit(main())
