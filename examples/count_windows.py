"""Count windows: a result for every three elements of a key, and a sliding one over the last three.

Time plays no part: a window is full when it has its number of elements; what is left at the end is not shown.

Run it with `python examples/count_windows.py`.
"""

from headrace.datastream import ProcessWindowFunction, StreamExecutionEnvironment

SCORES = [("ann", 3), ("bob", 7), ("ann", 5), ("ann", 4), ("bob", 1), ("ann", 9), ("bob", 2), ("ann", 6)]


class Scores(ProcessWindowFunction):
    def __init__(self, label: str):
        self.label = label

    def process(self, key, context: ProcessWindowFunction.Context, elements):
        yield f"{self.label} {key}: {[score for _, score in elements]}"


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    scores = env.from_collection(SCORES).key_by(lambda score: score[0])
    scores.count_window(3).process(Scores("every three of")).print()
    scores.count_window(3, 1).process(Scores("the last three of")).print()
    env.execute("count windows")


if __name__ == "__main__":
    main()
