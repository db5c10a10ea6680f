"""The command line: `headrace COMMAND ...`. `app` lists the commands."""
