"""A job that a test kills: `python sink_job.py KIND DIRECTORY LAST [URL]`. Started again, it goes on."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from sink_kit import environment, numbers, place

if __name__ == "__main__":
    kind, directory, last, *url = sys.argv[1:]
    env = environment(directory, **{"headrace.job.id": "numbers-job"})
    place(kind, directory, *url).attach(numbers(env, int(last)))
    env.execute("numbers")
    print("finished")
