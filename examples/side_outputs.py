"""Side outputs: one function, several streams out of it.

The main stream has the good readings; what cannot be read and what looks dangerous go out at the side, each to its own
stream, with its own type. Nothing is dropped silently and nothing is read twice.

Run it with `python examples/side_outputs.py`.
"""

from headrace.common import Types
from headrace.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment

LINES = ["boiler 71", "pump 48", "boiler ninety", "boiler 104", "", "pump 55"]

UNREADABLE = OutputTag("unreadable", Types.STRING())
ALARMS = OutputTag("alarms", Types.TUPLE([Types.STRING(), Types.INT()]))


class Parse(ProcessFunction):
    def process_element(self, value, ctx: ProcessFunction.Context):
        try:
            name, text = value.split()
            degrees = int(text)
        except ValueError:
            # A pair of tag and value goes to the side output; anything else to the main stream.
            yield UNREADABLE, value
            return
        if degrees > 100:
            yield ALARMS, (name, degrees)
        yield name, degrees


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    reading_type = Types.TUPLE([Types.STRING(), Types.INT()])
    readings = env.from_collection(LINES, Types.STRING()).process(Parse(), output_type=reading_type)

    # The text before `>` is the name that is given to print.
    readings.print("reading")
    readings.get_side_output(ALARMS).map(lambda alarm: f"{alarm[0]} is at {alarm[1]}!", Types.STRING()).print("alarm")
    readings.get_side_output(UNREADABLE).map(repr, Types.STRING()).print("unreadable")

    env.execute("side outputs")


if __name__ == "__main__":
    main()
