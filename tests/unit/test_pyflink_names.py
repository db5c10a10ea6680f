"""Whatever can be imported from a module of PyFlink can be imported from headrace's, or is refused with what to use instead.

`tests/data/pyflink_names.json` is made by `scripts/make_pyflink_names.py` from PyFlink itself.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from headrace.common.errors import HeadraceError
from headrace.compatibility.exports import ANYWHERE, EXPORTS
from headrace.compatibility.names import WITHOUT, NameNotSupportedError

ROOT = Path(__file__).parents[2]
MODULES = json.loads((ROOT / "tests" / "data" / "pyflink_names.json").read_text())["modules"]


def headrace_module(module):
    return "headrace" + module.removeprefix("pyflink")


def is_without(name):
    return any(fnmatchcase(name, pattern) for without in WITHOUT for pattern in without.names.split())


def import_from(module, name):
    space = {}
    exec(f"from {module} import {name}", space)
    return space[name]


@pytest.mark.parametrize("module", sorted(MODULES))
def test_every_name_is_there_or_refused(module):
    problems = []
    for name in MODULES[module]:
        try:
            import_from(headrace_module(module), name)
        except NameNotSupportedError as error:
            if not error.remedy or name not in str(error):
                problems.append(f"{name} is refused without a remedy: {error}")
        except ImportError as error:
            problems.append(f"{name}: {error}")
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_name_is_the_one_object_that_it_is_elsewhere(module):
    for name, home in MODULES[module].items():
        if home.startswith("pyflink.") and not is_without(name) and home in MODULES:
            assert import_from(headrace_module(module), name) is import_from(headrace_module(home), name), name


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("datastream.functions", "KEY W IN OUT ValueStateDescriptor MapStateDescriptor Iterable"),
        (
            "datastream.connectors",
            "FlinkKafkaConsumer FlinkKafkaProducer Semantic JdbcSink StreamingFileSink KafkaSource",
        ),
        ("datastream.connectors.kafka", "DeliveryGuarantee KafkaSink"),
        ("datastream.window", "Time ReduceFunction"),
        ("datastream.state", "Types Time"),
        ("datastream.data_stream", "MapFunction WatermarkStrategy"),
        ("common", "JsonRowDeserializationSchema CsvRowSerializationSchema AvroRowDeserializationSchema"),
        ("common.serialization", "JsonRowSerializationSchema JsonRowDeserializationSchema"),
    ],
)
def test_names_that_programs_import_from_odd_places(module, names):
    for name in names.split():
        assert import_from(f"headrace.{module}", name).__module__.split(".")[0] in ("headrace", "typing")


def test_a_typing_mistake_is_an_ordinary_import_error():
    with pytest.raises(ImportError, match="cannot import name 'Tiem'") as raised:
        import_from("headrace.datastream.window", "Tiem")
    assert not isinstance(raised.value, HeadraceError)


def test_submodules_are_still_found():
    for name in ("time", "types", "typeinfo", "io"):
        assert import_from("headrace.common", name).__name__ == f"headrace.common.{name}"


def test_no_entry_is_left_over():
    """Each name that the tables have is one that PyFlink exposes there, and none that the module defines itself."""
    for module, homes in EXPORTS.items():
        known = MODULES[f"pyflink.{module}"]
        for home, names in homes.items():
            for name in names.split():
                assert name in known, f"{module}.{name} from {home}"
    everywhere = {name for names in MODULES.values() for name in names}
    assert {name for names in ANYWHERE.values() for name in names.split()} <= everywhere
    for pattern in (pattern for without in WITHOUT for pattern in without.names.split()):
        assert any(fnmatchcase(name, pattern) for name in everywhere), pattern


def test_nothing_is_both_there_and_refused():
    for module in MODULES:
        found = vars(importlib.import_module(headrace_module(module)))
        assert not [
            n for n in getattr(importlib.import_module(headrace_module(module)), "__all__", ()) if is_without(n)
        ]
        assert not [n for n in MODULES[module] if n in found and is_without(n)], module


def test_the_limits_page_lists_what_is_refused():
    page = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    for without in WITHOUT:
        assert (
            f"| {', '.join(f'`{name}`' for name in without.names.split())} | {without.why} | {without.instead} |"
            in page
        )


def test_asking_for_a_name_imports_only_its_own_module():
    program = (
        "import sys; from headrace.common import Types; "
        "assert not [m for m in sys.modules if m.startswith('headrace.datastream')]; "
        "from headrace.common import JsonRowSerializationSchema; "
        "assert 'headrace.formats.json' in sys.modules; assert 'pyspark' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
