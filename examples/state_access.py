"""Keyed state: what a function remembers of each key, from record to record.

For every account this job keeps its balance (a value), its last three bookings (a list) and its sum per shop (a map).
State belongs to the key of the current record: the function asks for it once, in `open`, and never names the key.

Run it with `python examples/state_access.py`.
"""

from headrace.common import Types
from headrace.datastream import KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from headrace.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor

# account, shop, cents
BOOKINGS = [
    ("ada", "books", 1200),
    ("bob", "fruit", 300),
    ("ada", "fruit", 450),
    ("ada", "books", 800),
    ("bob", "fruit", 250),
    ("ada", "tools", 9900),
]


class Statement(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.balance = runtime_context.get_state(ValueStateDescriptor("balance", Types.LONG()))
        self.latest = runtime_context.get_list_state(ListStateDescriptor("latest", Types.LONG()))
        self.by_shop = runtime_context.get_map_state(MapStateDescriptor("by shop", Types.STRING(), Types.LONG()))

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        account, shop, cents = value

        # A value is None until it was set for this key.
        self.balance.update((self.balance.value() or 0) + cents)

        # A list is read whole and can be replaced: here it never grows beyond three.
        self.latest.update([*self.latest.get(), cents][-3:])

        # A map is read and written entry by entry, however large it is.
        self.by_shop.put(shop, (self.by_shop.get(shop) or 0) + cents)

        shops = ", ".join(f"{name} {total}" for name, total in sorted(self.by_shop.items()))
        yield f"{account}: {self.balance.value()} in all, last {list(self.latest.get())}, by shop: {shops}"


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    booking_type = Types.TUPLE([Types.STRING(), Types.STRING(), Types.LONG()])
    (
        env.from_collection(BOOKINGS, booking_type)
        .key_by(lambda booking: booking[0], key_type=Types.STRING())
        .process(Statement(), output_type=Types.STRING())
        .print()
    )
    env.execute("state access")


if __name__ == "__main__":
    main()
