"""The pages that list things list all of them: configuration keys, error codes."""

from __future__ import annotations

import re
from pathlib import Path

from headrace.common import errors
from headrace.compatibility.ignored_settings import OPTIONS_WITHOUT_EFFECT
from headrace.config import headrace_keys as options
from headrace.config.known_keys import HEADRACE_OPTIONS, TYPED_OPTIONS
from headrace.config.runtime_settings import read_runtime_settings
from headrace.driver.executor import EpochLostError
from headrace.spark import settings

DOCS = Path(__file__).resolve().parents[2] / "docs"


def table(page: str) -> dict[str, list[str]]:
    """The rows of all tables of a page, by the code in their first cell."""
    rows = {}
    for line in (DOCS / page).read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        for name in re.findall(r"`([^`]+)`", cells[0]) if line.startswith("|") else []:
            rows[name] = cells[1:]
    return rows


def test_every_key_of_the_runtime_is_listed():
    assert HEADRACE_OPTIONS.keys() <= table("configuration.md").keys()


def test_every_other_option_is_on_some_page_or_known_to_have_no_effect():
    pages = " ".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    found = {option.key for option in TYPED_OPTIONS.values()}
    prefixes = tuple(key for key in OPTIONS_WITHOUT_EFFECT if key.endswith((".", "-timeout")))
    ignored = {key for key in found if key in OPTIONS_WITHOUT_EFFECT or key.startswith(prefixes)}
    assert {key for key in found - ignored if f"`{key}`" not in pages} == set()


def test_the_listed_defaults_are_those_of_the_code(monkeypatch):
    monkeypatch.delenv("HEADRACE_EXECUTOR", raising=False)
    from headrace.common import Configuration

    defaults = read_runtime_settings(Configuration())
    listed = {key: cells[0].strip("`") for key, cells in table("configuration.md").items()}
    assert listed[options.EXECUTOR.key] == defaults.executor
    assert listed[options.EPOCH_TARGET.key] == str(round(defaults.epoch_target * 1000))
    assert listed[options.BOUNDED_EPOCH_TARGET.key] == str(round(defaults.bounded_epoch_target * 1000))
    assert listed[options.FIRST_EPOCH_RECORDS.key] == str(defaults.first_records)
    assert listed[options.MAX_EPOCH_RECORDS.key] == str(defaults.max_records)
    assert listed[options.IDLE_POLL.key] == str(round(defaults.idle_poll * 1000))
    assert listed[options.WATERMARK_RECORDS.key] == str(defaults.watermark_records)
    assert listed[options.PROGRESS.key] == defaults.progress


def test_every_default_for_spark_is_listed(monkeypatch):
    monkeypatch.delenv("HEADRACE_SPARK_MASTER", raising=False)
    listed = table("configuration.md")
    for key, value in settings.settings_for({}).items():
        assert key in listed
        if value in ("true", "false"):
            assert listed[key][0] == f"`{value}`"


def test_every_error_code_is_listed():
    classes = [getattr(errors, name) for name in errors.__all__]
    found = {c.code: c.__name__ for c in [*classes, EpochLostError] if isinstance(c, type)}
    listed = table("errors.md")
    for code, name in found.items():
        if code != "HEADRACE":
            assert listed[code][0].startswith(f"`{name}`")
