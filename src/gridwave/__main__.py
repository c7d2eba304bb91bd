"""``python -m gridwave``."""

import sys

from gridwave.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
