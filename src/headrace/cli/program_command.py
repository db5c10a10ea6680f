"""A command that takes a program and its arguments: `headrace run [options] FILE [arguments]`.

Decides where headrace's options end: at FILE, or with `-py FILE` at the first word that is not one of them. Everything
after that belongs to the program, even if it looks like an option of headrace.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from headrace.cli.options import settings_option
from headrace.config import checkpoint_keys as keys

F = TypeVar("F", bound=Callable[..., Any])


class ProgramCommand(click.Command):
    """Accepts both `-py FILE` and `FILE`; the command gets `program` and `arguments`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Mark where the program's arguments begin."""
        ctx.allow_interspersed_args = False
        end = self._end_of_options(ctx, args)
        named = any(word in ("-py", "--python") or word.startswith("--python=") for word in args[:end])
        if named and end < len(args) and args[end] != "--":
            args = [*args[:end], "--", *args[end:]]
        rest = super().parse_args(ctx, args)
        words, file = list(ctx.params.pop("words")), ctx.params.pop("python")
        if not named and not words and not ctx.resilient_parsing:
            raise click.UsageError("Missing argument: FILE or -py FILE.", ctx)
        ctx.params["program"] = file if named else (words.pop(0) if words else None)
        ctx.params["arguments"] = tuple(words)
        return rest

    def _end_of_options(self, ctx: click.Context, args: list[str]) -> int:
        takes_value = {
            name: not option.is_flag
            for option in self.get_params(ctx)
            if isinstance(option, click.Option)
            for name in option.opts
        }
        short = {name for name, valued in takes_value.items() if valued and len(name) == 2}
        position = 0
        while position < len(args) and args[position].startswith("-") and args[position] != "--":
            name, equals, _ = args[position].partition("=")
            if name in takes_value:
                position += 2 if takes_value[name] and not equals else 1
            elif name[:2] in short:  # -p4, -Dkey=value
                position += 1
            else:
                break
        return min(position, len(args))


_OPTIONS = (
    click.option("-py", "--python", metavar="FILE", help="The program; all remaining words are its arguments."),
    click.option("-p", "--parallelism", type=click.IntRange(min=1), help="The parallelism of the job."),
    click.option("-s", "--from-savepoint", metavar="PATH", help="Start from this savepoint or checkpoint."),
    click.option(
        "-n",
        "--allow-non-restored-state",
        is_flag=True,
        help="Start even if the savepoint has state of operators that the program does not have.",
    ),
    click.option(
        "-rm",
        "--claim-mode",
        type=click.Choice(["CLAIM", "NO_CLAIM"], case_sensitive=False),
        help="CLAIM: the job takes ownership of the savepoint and may delete it.",
    ),
    click.option(
        "-pyfs",
        "--py-files",
        metavar="PATHS",
        help="Modules (.py), packages (directories) and .zip files to import from, separated by commas.",
    ),
    click.option(
        "-pyreq",
        "--py-requirements",
        metavar="FILE[#DIR]",
        help="Packages to install for the functions, from DIR if given.",
    ),
    click.option(
        "-pyarch",
        "--py-archives",
        metavar="PATHS",
        help="Archives to unpack for the functions, separated by commas; FILE#NAME unpacks into the directory NAME.",
    ),
    click.option("-pyexec", "--py-executable", metavar="PATH", help="The Python that runs the functions."),
    settings_option,
    click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[FILE] [ARGUMENTS]..."),
)


def program_options(function: F) -> F:
    """Add the options for starting a program; `launch_settings` converts them to settings."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def launch_settings(
    settings: dict[str, str],
    parallelism: int | None,
    from_savepoint: str | None,
    allow_non_restored_state: bool,
    claim_mode: str | None,
    py_files: str | None,
    py_requirements: str | None,
    py_archives: str | None,
    py_executable: str | None,
) -> dict[str, str]:
    """Return the options as settings under Flink's keys. They override the settings of `-D`.

    >>> launch_settings({"a": "1"}, 4, None, True, None, None, None, None, None)
    {'a': '1', 'parallelism.default': '4', 'execution.state-recovery.ignore-unclaimed-state': 'true'}
    """
    said = {
        "parallelism.default": None if parallelism is None else str(parallelism),
        keys.RESTORE_PATH.key: from_savepoint,
        keys.RESTORE_IGNORE_UNCLAIMED.key: "true" if allow_non_restored_state else None,
        keys.RESTORE_CLAIM_MODE.key: claim_mode,
        "python.files": py_files,
        "python.requirements": py_requirements,
        "python.archives": py_archives,
        "python.executable": py_executable,
    }
    return {**settings, **{key: value for key, value in said.items() if value is not None}}
