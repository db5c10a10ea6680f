"""The command line: `headrace COMMAND ...`. One file per command; `app` puts them together."""
