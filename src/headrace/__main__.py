"""Run the `headrace` command as `python -m headrace`."""

from headrace.cli.app import main

if __name__ == "__main__":
    main()
