"""A job on a real Spark master that has no workers: the page says what it waits for, and since when."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import expect
from programs import SHOP
from service_kit import wait_for


@pytest.fixture
def lonely_master(tmp_path, free_port):
    """A Spark master without workers; gives its address."""
    port = free_port()
    home = Path(str(importlib.util.find_spec("pyspark").origin)).parent
    environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m"}
    command = [str(home / "bin" / "spark-class"), "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1"]
    with (tmp_path / "master.log").open("w") as log:
        master = subprocess.Popen(
            [*command, "--port", str(port), "--webui-port", "0"], env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        wait_for(lambda: "I have been elected leader" in (tmp_path / "master.log").read_text(), 60)
        yield f"spark://127.0.0.1:{port}"
    finally:
        master.kill()
        master.wait()


@pytest.mark.spark
@pytest.mark.long
def test_a_job_without_executors_says_that_it_waits(start_service, lonely_master, open_page, tmp_path, picture):
    service = start_service(headrace__executor="spark", spark__master=lonely_master).leading()
    job = service.run(SHOP, [str(tmp_path / "no"), str(tmp_path / "results")])
    service.wait_for_status(job, "RUNNING", 60)
    page = open_page(f"{service.url}/#/jobs/{job}")
    glance = page.get_by_label("At a glance")
    expect(glance).to_contain_text("Waiting for executors", timeout=30_000)
    expect(glance).to_contain_text(re.compile(r"since 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d"))
    expect(glance).not_to_contain_text("Running")
    expect(glance.get_by_role("link", name=re.compile("^Health"))).to_have_class(re.compile("watch"), timeout=60_000)
    picture(page, "waiting")
    page.goto(f"{service.url}/#/")
    row = page.get_by_role("group", name="Running jobs").locator("tbody tr")
    expect(row).to_contain_text("Waiting for executors since", timeout=30_000)
    expect(page.locator("dl.figures")).to_contain_text("0 of 0")
    assert service.call("PATCH", f"/jobs/{job}")[0] == 202
    service.wait_for_status(job, "CANCELED", 60)
