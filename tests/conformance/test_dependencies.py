"""Python files, archives and requirements that a program brings along."""

from __future__ import annotations

import shutil
import sys
import uuid
import zipfile

import pytest

from headrace.common.errors import ConfigurationError, JobExecutionError
from headrace.testing import CollectingSink


@pytest.fixture
def module() -> str:
    """A name for a module that nobody has imported yet."""
    return f"lib_{uuid.uuid4().hex}"


def mapped(env, function):
    sink = CollectingSink()
    env.from_collection([1, 2, 3]).map(function).add_sink(sink)
    env.execute()
    return sorted(sink.get_values())


def plus(module):
    def add(value):
        import importlib

        return importlib.import_module(module).add_two(value)

    return add


ADD_TWO = "def add_two(a):\n    return a + 2\n"


def test_a_python_file(both, tmp_path, module):
    (tmp_path / f"{module}.py").write_text(ADD_TWO)
    both.add_python_file(str(tmp_path / f"{module}.py"))
    before = list(sys.path)
    assert mapped(both, plus(module)) == [3, 4, 5]
    assert sys.path == before


def test_a_directory_of_modules(both, tmp_path, module):
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / f"{module}.py").write_text(ADD_TWO)
    both.add_python_file(str(tmp_path / "modules"))
    assert mapped(both, plus(module)) == [3, 4, 5]


def test_a_package(both, tmp_path, module):
    (tmp_path / module).mkdir()
    (tmp_path / module / "__init__.py").write_text(ADD_TWO)
    both.add_python_file(f"file://{tmp_path}/{module}")
    assert mapped(both, plus(module)) == [3, 4, 5]


def test_a_zip_file(both, tmp_path, module):
    with zipfile.ZipFile(tmp_path / "modules.zip", "w") as packed:
        packed.writestr(f"{module}.py", ADD_TWO)
    both.add_python_file(str(tmp_path / "modules.zip"))
    assert mapped(both, plus(module)) == [3, 4, 5]


def test_several_files_and_the_configuration(make_env, tmp_path, module):
    for name in (f"{module}.py", "other.py"):
        (tmp_path / name).write_text(ADD_TWO)
    env = make_env(1, **{"python.files": f"{tmp_path}/{module}.py"})
    env.add_python_file(str(tmp_path / "other.py"))
    assert mapped(env, plus(module)) == [3, 4, 5]


@pytest.mark.parametrize("form", ["zip", "tar", "gztar"])
def test_archives(both, tmp_path, form):
    (tmp_path / "content").mkdir()
    (tmp_path / "content" / "data.txt").write_text("2")
    archive = shutil.make_archive(str(tmp_path / "packed"), form, tmp_path / "content")
    both.add_python_archive(archive, "data")

    def add_from_file(value):
        with open("data/data.txt") as file:
            return value + int(file.read())

    assert mapped(both, add_from_file) == [3, 4, 5]


def test_an_archive_without_target_has_its_own_name(both, tmp_path):
    (tmp_path / "content").mkdir()
    (tmp_path / "content" / "data.txt").write_text("2")
    both.add_python_archive(shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path / "content"))
    assert mapped(both, lambda value: value + int(open("packed.zip/data.txt").read())) == [3, 4, 5]


def test_the_working_directory_is_as_before(both, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "number.txt").write_text("40")
    assert mapped(both, lambda value: value + int(open("number.txt").read())) == [41, 42, 43]


def wheel(folder, module):
    """A minimal package of one module."""
    name = f"{module}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(folder / name, "w") as packed:
        packed.writestr(f"{module}.py", ADD_TWO)
        info = f"{module}-1.0.dist-info"
        packed.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        packed.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        packed.writestr(f"{info}/RECORD", "")


@pytest.mark.slow
def test_requirements_with_their_packages(env, tmp_path, module):
    (tmp_path / "packages").mkdir()
    wheel(tmp_path / "packages", module)
    (tmp_path / "requirements.txt").write_text(f"{module}==1.0\n")
    env.set_python_requirements(str(tmp_path / "requirements.txt"), str(tmp_path / "packages"))
    assert mapped(env, plus(module)) == [3, 4, 5]


@pytest.mark.slow
def test_requirements_that_cannot_be_met(env, tmp_path):
    (tmp_path / "packages").mkdir()
    (tmp_path / "requirements.txt").write_text("there-is-no-such-package==1.0\n")
    env.set_python_requirements(str(tmp_path / "requirements.txt"), str(tmp_path / "packages"))
    env.from_collection([1]).print()
    with pytest.raises(JobExecutionError, match=r"requirements\.txt could not be installed"):
        env.execute()


def test_files_that_are_not_there(env, tmp_path):
    env.add_python_file(str(tmp_path / "missing.py"))
    env.from_collection([1]).print()
    with pytest.raises(ConfigurationError, match=r"python\.files names a file that does not exist"):
        env.execute()


def test_archives_that_are_none(env, tmp_path):
    (tmp_path / "text").write_text("no archive")
    env.add_python_archive(str(tmp_path / "text"))
    env.from_collection([1]).print()
    with pytest.raises(ConfigurationError, match="not an archive"):
        env.execute()


def test_settings_are_kept_under_flinks_keys(env):
    env.add_python_file("/a.py")
    env.add_python_file("/b.zip")
    env.add_python_archive("/c.zip", "data")
    env.set_python_requirements("/r.txt", "/packages")
    env.set_python_executable("/usr/bin/python3")
    values = env.get_configuration().to_dict()
    assert values["python.files"] == "/a.py,/b.zip"
    assert values["python.archives"] == "/c.zip#data"
    assert values["python.requirements"] == "/r.txt#/packages"
    assert values["python.executable"] == "/usr/bin/python3"


def test_the_python_of_the_workers(env):
    from headrace.config.runtime_settings import read_runtime_settings

    env.set_python_executable("/usr/bin/python3")
    assert read_runtime_settings(env.get_configuration()).python == "/usr/bin/python3"
