"""`python -m ctxlab`: the command line where the `ctxlab` script is not on the path."""

import sys

from ctxlab.cli import main

sys.exit(main())
