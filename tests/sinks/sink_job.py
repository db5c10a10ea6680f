"""A job that a test kills: `python sink_job.py KIND DIRECTORY LAST URL [SETTINGS]`. Started again, it continues.

`URL` is that of a database, or empty. `SETTINGS` are JSON, in place of the job's own; null leaves one out.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from sink_kit import environment, numbers, place

if __name__ == "__main__":
    kind, directory, last, url, *more = sys.argv[1:]
    settings = {"headrace.job.id": "numbers-job"} | (json.loads(more[0]) if more else {})
    env = environment(directory, settings.pop("parallelism", 2), **settings)
    place(kind, directory, *([url] if url else [])).attach(numbers(env, int(last)))
    env.execute("numbers")
    print("finished")
