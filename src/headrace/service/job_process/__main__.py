"""Run the program of a job as its master: `python -m headrace.service.job_process FOLDER`. The dispatcher starts this.

1. take the lock of the job: of two processes for one job, one exits here
2. open the control port for the dispatcher, and record its address
3. run the program, which starts the job
4. wait for the job to end, even if the program did not
5. record how it ended

If this process is killed, the file of step 5 is missing and the lock is free. The dispatcher notices that.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from headrace.config.config_file import load_configuration
from headrace.config.headrace_keys import SERVICE_CONTROL_ADDRESS
from headrace.driver.job_master import listen
from headrace.service.job_folder import Control, JobFolder
from headrace.service.job_process.control_server import ControlServer, JobWatch
from headrace.service.job_process.plan import run_program


def main() -> None:
    """Run the job of the folder that the command line names."""
    folder = JobFolder(Path(sys.argv[1]).resolve())
    if not folder.lock.take() or folder.end() is not None:
        return
    submission = folder.submission()
    assert submission is not None, "the dispatcher writes it first"
    host = load_configuration().get(SERVICE_CONTROL_ADDRESS.key, "127.0.0.1")
    control = ControlServer(host)
    folder.write(Control(host, control.port, control.secret, os.getpid()))
    watch = JobWatch(folder, control)
    listen(watch)
    error = run_program(folder.path / "program" / submission.program, submission.entry, submission.arguments)
    watch.conclude(error)


if __name__ == "__main__":
    main()
