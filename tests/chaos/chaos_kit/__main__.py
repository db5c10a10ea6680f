"""The crash tests as a command; see scripts/chaos."""

from __future__ import annotations

import sys

from chaos_kit.campaign import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
