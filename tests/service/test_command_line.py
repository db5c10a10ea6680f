"""The command line with a real service: programs with all that they bring along, certificates, and what people get wrong."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from service_kit import ENDLESS, NUMBERS, Client, heard_by_certificate

from headrace.cli.app import app
from headrace.cli.errors import exit_code_of
from headrace.common.errors import HeadraceError

PROGRAM = """
import sys
from pathlib import Path
from headrace.common import Encoder, Types
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.file_system import FileSink
import shouting

def told(number):
    import greeting_package
    return greeting_package.WORD + Path("texts/end.txt").read_text() + shouting.MARK + str(number)

env = StreamExecutionEnvironment.get_execution_environment()
sink = FileSink.for_row_format(sys.argv[1], Encoder.simple_string_encoder()).build()
env.from_collection([1, 2]).map(told, Types.STRING()).sink_to(sink)
env.execute("brings all along")
"""


def wheel(folder: Path) -> None:
    """A minimal package of one module."""
    info = "greeting_package-1.0.dist-info"
    with zipfile.ZipFile(folder / "greeting_package-1.0-py3-none-any.whl", "w") as packed:
        packed.writestr("greeting_package.py", "WORD = 'hello'\n")
        packed.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: greeting_package\nVersion: 1.0\n")
        packed.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"{info}/RECORD", "")


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A program in a directory that the service is not in."""
    (tmp_path / "here" / "wheels").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    wheel(Path("wheels"))
    Path("requirements.txt").write_text("greeting_package==1.0\n")
    Path("shouting.py").write_text("MARK = '!'\n")
    with zipfile.ZipFile("texts.zip", "w") as archive:
        archive.writestr("end.txt", " world")
    Path("job.py").write_text(PROGRAM)
    return "job.py"


@pytest.fixture(autouse=True)
def configured(service, tmp_path, monkeypatch):
    """The command line finds the token of the service where its configuration says that the service is."""
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "headrace.yaml").write_text(f"headrace.service.dir: {service.directory}\n")
    monkeypatch.setenv("HEADRACE_CONF_DIR", str(tmp_path / "conf"))


def test_all_that_a_program_brings_along_is_uploaded(service, program, tmp_path):
    own = ["-pyfs", "shouting.py", "-pyreq", "requirements.txt#wheels", "-pyarch", "texts.zip#texts"]
    words = ["run", "-d", "--json", "-m", service.url, *own, program, str(tmp_path / "out")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    job = json.loads(done.stdout)["jobid"]
    service.wait_for_status(job, "FINISHED")
    lines = [line for file in (tmp_path / "out").rglob("part-*") for line in file.read_text().splitlines()]
    assert sorted(lines) == ["hello world!1", "hello world!2"]
    place = service.directory / "jobs" / job
    settings = service.get(f"/jobs/{job}/config")["execution-config"]["user-config"]
    for path in (*settings["python.requirements"].split("#"), settings["python.archives"].split("#")[0]):
        assert Path(path).is_relative_to(place / "headrace-files"), "jobs do not use the files of the client"
    with zipfile.ZipFile(place / "program" / "job.zip") as kept:
        assert sorted(kept.namelist()) == ["job.py", "shouting.py"]
    assert service.get("/jars")["files"] == []


def test_files_that_were_not_uploaded_are_refused(service):
    settings = {"python.archives": "headrace-files/0/texts.zip#texts"}
    body = {"programArgsList": ["x"], "flinkConfiguration": settings}
    status, answer = service.call("POST", f"/jars/{service.program(PROGRAM)}/run", body)
    assert status == 400 and "does not contain 'headrace-files/0/texts.zip'" in answer["errors"][0]


def test_a_bundle_cannot_grow_when_it_is_unpacked(service, tmp_path):
    with zipfile.ZipFile(tmp_path / "large.zip", "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("headrace-files/0/zeros", b"0" * 1_000_000)
    status, answer = service.upload("large.zip", (tmp_path / "large.zip").read_bytes())
    assert status == 400 and "stored, not compressed" in answer["errors"][0]


def headrace(*words: str) -> tuple[int, str, str]:
    """A command in this process: exit code, standard output, what is told of an error."""
    done = CliRunner().invoke(app, words)
    if isinstance(done.exception, HeadraceError):
        return exit_code_of(done.exception), done.stdout, str(done.exception)
    return done.exit_code, done.stdout, done.stderr


def test_the_token_is_found_for_the_service_it_belongs_to(service, start_service, tmp_path, monkeypatch):
    code, shown, told = headrace("list", "--json")
    assert code == 0 and isinstance(json.loads(shown), list), told
    port = service.url.rpartition(":")[2]
    assert headrace("list", "-m", f"localhost:{port}")[0] == 0

    other = start_service().leading()  # another directory: its token is not known, and it gets none of ours
    code, _, told = headrace("list", "-m", other.url)
    assert code == 1 and "HEADRACE_TOKEN" in told and "headrace.service.dir" in told
    monkeypatch.setenv("HEADRACE_TOKEN", other.token)
    assert headrace("list", "-m", other.url)[0] == 0
    assert headrace("list", "-m", service.url)[0] == 0, "the token of the address goes before the variable"


def test_the_link_for_a_browser_signs_in_once(service):
    code, shown, told = headrace("ui")
    assert code == 0, told
    url, _, sign_in = shown.strip().partition("/#/sign-in/")
    assert url == service.url and sign_in
    browser = Client(service.url)
    status, answer = browser.call("POST", "/sign-in", {"code": sign_in})
    assert status == 200
    assert browser.call("POST", "/sign-in", {"code": sign_in})[0] == 401
    browser.token = answer["token"]
    assert browser.call("GET", "/jobs")[0] == 200 and browser.token != service.token


def test_the_certificate_of_the_client_is_shown(tmp_path, start_service):
    service = heard_by_certificate(start_service, tmp_path)

    def words(**given: str) -> list[str]:
        return [w for key, name in given.items() for w in ("-D", f"headrace.client.tls.{key}={tmp_path / name}")]

    port = service.url.rpartition(":")[2]
    known = words(certificate="client.pem", key="client.key", ca="cert.pem")
    code, shown, told = headrace("list", "--json", "-m", f"127.0.0.1:{port}", *known)
    assert (code, json.loads(shown)) == (0, []), told
    for wrong in (words(ca="cert.pem"), words(certificate="client.pem", key="client.key")):
        code, shown, told = headrace("list", "-m", service.url, *wrong)
        assert code == 3 and "headrace.client.tls.ca" in told, told
    for wrong in (words(certificate="client.pem"), words(certificate="client.pem", key="key.pem"), words(ca="no.pem")):
        code, shown, told = headrace("list", "-m", service.url, *wrong)
        assert code == 2 and "headrace.client.tls" in told and "PRIVATE" not in told, told
    plain = subprocess.run(
        [sys.executable, "-m", "headrace", "list", "--json", "-m", f"http://127.0.0.1:{port}"],
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    error = json.loads(plain.stderr)
    assert plain.returncode == 3 and error["code"] == "SERVICE_UNREACHABLE" and "https://" in error["errors"][0]


def test_what_people_get_wrong_is_told(service, tmp_path):
    job = service.run(NUMBERS, ENDLESS)
    service.wait_for_status(job, "RUNNING")

    def on_service(*words: str) -> tuple[int, str]:
        code, shown, told = headrace(*words, "-m", service.url)
        return code, shown + told

    for unknown in ("nobody", "0" * 32):
        code, told = on_service("cancel", unknown)
        assert code == 4 and ("There is no such job" in told or "not found" in told), told
    code, told = on_service("savepoint", "-d", str(tmp_path / "nowhere"))
    assert code == 1 and "nowhere" in told and "Traceback" not in told, told
    code, told = on_service("savepoint", job, "/proc/no")
    assert code == 1 and "/proc/no" in told and "Traceback" not in told, told
    code, told = on_service("rescale", "-p", "100000", job)
    assert code == 1 and "32768" in told, told
    code, told = on_service("savepoint", "-d", "x", job)
    assert code == 2 and "does not take a JOB" in told
    code, told = on_service("run", "-d", "-D", "execution.checkpointing.interval=soon", __file__)
    assert code == 2 and "soon" in told, told
    assert on_service("cancel", job)[0] == 0
    code, told = on_service("checkpoint", job)
    assert code == 1 and "has ended: CANCELED" in told, told
