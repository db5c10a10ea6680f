"""Counts the words of a text: a bounded stream in batch mode, so each word appears once, with its final count.

Run it with `python examples/word_count.py`.
"""

from headrace.common import Types
from headrace.datastream import RuntimeExecutionMode, StreamExecutionEnvironment

TEXT = [
    "To be, or not to be, that is the question:",
    "Whether 'tis nobler in the mind to suffer",
    "The slings and arrows of outrageous fortune,",
    "Or to take arms against a sea of troubles,",
    "And by opposing end them. To die: to sleep;",
]


def words(line: str) -> list[str]:
    return [word for word in (raw.strip(".,:;'").lower() for raw in line.split()) if word]


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.set_parallelism(2)

    counts = (
        env.from_collection(TEXT, Types.STRING())
        .flat_map(words, output_type=Types.STRING())
        .map(lambda word: (word, 1), output_type=Types.TUPLE([Types.STRING(), Types.INT()]))
        .key_by(lambda pair: pair[0], key_type=Types.STRING())
        .reduce(lambda left, right: (left[0], left[1] + right[1]))
    )
    lines = counts.map(lambda pair: f"{pair[1]} {pair[0]}", output_type=Types.STRING())
    lines.print().set_parallelism(1)

    env.execute("word count")


if __name__ == "__main__":
    main()
