"""Counts words as they come: a stream in streaming mode, so every word shows its new count at once.

The source makes four sentences a second and ends after three seconds; without `count` it would go on for ever. Watch the
lines appear while it runs. The number before `>` is the subtask that printed the line: all updates of one word come
from the same subtask, because that is where the word's count lives.

Run it with `python examples/streaming_word_count.py`.
"""

from headrace.common import Types, WatermarkStrategy
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.datagen import DataGeneratorSource

SENTENCES = ["the river turns the wheel", "the wheel turns the stone", "the stone grinds the grain"]


def sentence(index: int) -> str:
    return SENTENCES[index % len(SENTENCES)]


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)

    source = DataGeneratorSource(sentence, count=12, records_per_second=4, type_info=Types.STRING())
    sentences = env.from_source(source, WatermarkStrategy.no_watermarks(), "sentences")

    counts = (
        sentences.flat_map(lambda line: line.split(), output_type=Types.STRING())
        .map(lambda word: (word, 1), output_type=Types.TUPLE([Types.STRING(), Types.INT()]))
        # From here on, records with the same word meet in the same subtask.
        .key_by(lambda pair: pair[0], key_type=Types.STRING())
        # The sum so far is kept as state; every record emits the new one.
        .reduce(lambda left, right: (left[0], left[1] + right[1]))
    )
    counts.print()

    env.execute("streaming word count")


if __name__ == "__main__":
    main()
