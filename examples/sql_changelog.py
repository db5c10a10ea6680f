"""A GROUP BY over a stream has no last row: its result is a table that changes, and the changes are a stream.

Run it with `python examples/sql_changelog.py`.
"""

from headrace.datastream import StreamExecutionEnvironment
from headrace.table import StreamTableEnvironment


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    tables = StreamTableEnvironment.create(env)
    votes = tables.from_elements([("tea",), ("coffee",), ("tea",), ("tea",)], ["drink"])
    tables.create_temporary_view("votes", votes)
    counts = tables.sql_query("SELECT drink, COUNT(*) AS votes FROM votes GROUP BY drink")
    # +I is a new row; -U takes back a row, +U is what replaces it.
    tables.to_changelog_stream(counts).print()
    env.execute("votes")


if __name__ == "__main__":
    main()
