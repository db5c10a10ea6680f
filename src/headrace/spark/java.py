"""Check for Java, which Spark needs, and explain why Spark did not start."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from headrace.errors import ConfigurationError, HeadraceError, JobExecutionError

_OLDEST = 17
_REMEDY = (
    "Debian or Ubuntu: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk@17; "
    "others: install any JDK 17 or later. Then set JAVA_HOME to its directory, or put its java on the PATH."
)
_OPENED = (
    *("lang", "lang.invoke", "lang.reflect", "io", "net", "nio", "util", "util.concurrent", "util.concurrent.atomic"),
    *("/jdk.internal.ref", "/sun.nio.ch", "/sun.nio.cs", "/sun.security.action", "/sun.util.calendar"),
)
"""Packages of java.base that Spark opens; names without a slash are below `java`."""


def opened_modules() -> list[str]:
    """Return the options with which Spark's own launcher opens packages, for a JVM that is started without it."""
    opened = [name[1:] if name[0] == "/" else f"java.{name}" for name in _OPENED]
    return [
        *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in opened),
        "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    ]


def java_command() -> str | None:
    """Return the java that Spark will use; None if there is none."""
    home = os.environ.get("JAVA_HOME")
    if home:
        java = os.path.join(home, "bin", "java")
        return java if os.access(java, os.X_OK) else None
    return shutil.which("java")


def require_java() -> None:
    """Raise if there is no Java, or if its `release` file says that it is too old."""
    java = java_command()
    if java is None:
        home = os.environ.get("JAVA_HOME")
        raise ConfigurationError(
            f"Spark needs Java {_OLDEST} or later, and none was found",
            seen=f"JAVA_HOME={home}, which has no bin/java" if home else "no JAVA_HOME, and no java on the PATH",
            remedy=_REMEDY,
        )
    release = Path(os.path.realpath(java)).parent.parent / "release"
    if release.is_file():
        _require_version(release.read_text(errors="replace"), java)


def _require_version(text: str, java: str) -> None:
    version = major_version(text)
    if version is not None and version < _OLDEST:
        raise ConfigurationError(
            f"Spark needs Java {_OLDEST} or later", seen=f"Java {version} in {java}", remedy=_REMEDY
        )


def major_version(text: str) -> int | None:
    """Return the major version in a `release` file or in the output of `java -version`.

    >>> major_version('JAVA_VERSION="17.0.15"'), major_version('openjdk version "1.8.0_412"'), major_version("?")
    (17, 8, None)
    """
    found = re.search(r'(?:JAVA_VERSION=|version )"(?:1\.)?(\d+)', text)
    return int(found.group(1)) if found else None


def explain_failed_start(error: Exception, settings: dict[str, str]) -> HeadraceError:
    """Return the error to raise for a SparkContext that could not be created."""
    java = java_command()
    if "JAVA_GATEWAY_EXITED" in str(error):
        if java is not None:
            said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=30)
            _require_version(said.stderr, java)
            if said.returncode:
                return ConfigurationError(
                    "Spark needs Java, and the one that was found does not run",
                    seen=f"{java}: {said.stderr.strip()[:500]}",
                    remedy=_REMEDY,
                )
        return ConfigurationError(
            "Spark's JVM ended before it was ready",
            seen=f"java: {java}; spark.driver.memory: {settings.get('spark.driver.memory')}",
            remedy="see its output above; often the memory is too large for this machine, or a spark.* option is wrong.",
        )
    text = _java_message(error)
    if "BindException" in text or "failed after" in text:
        return ConfigurationError(
            "Spark cannot listen on this machine",
            seen=text,
            remedy="check spark.driver.bindAddress, spark.driver.host and spark.driver.port, and that the name of this "
            "machine can be resolved.",
        )
    if "AccessDenied" in text or "Permission denied" in text or "Failed to create a temp directory" in text:
        return ConfigurationError(
            "Spark cannot write its temporary files",
            seen=text,
            remedy="set spark.local.dir and TMPDIR to directories that this user can write to.",
        )
    if "Could not parse Master URL" in text:
        return ConfigurationError("Unknown kind of cluster in spark.master", seen=settings["spark.master"])
    return JobExecutionError("Cannot create a SparkContext", seen=text)


def _java_message(error: Exception) -> str:
    java = getattr(error, "java_exception", None)
    try:
        return str(error) if java is None else str(java.toString())
    except Exception:
        return str(error)
