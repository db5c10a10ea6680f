"""Broadcast state: rules that change while the job runs, known to every subtask.

Payments are spread over the subtasks by customer; limits go to all of them. Two streams have no order between them, so a
payment may come before the limit for its currency: such payments wait in keyed state, and are looked at again when
a limit arrives. (The payment in JPY waits for a limit that never comes.)

Run it with `python examples/broadcast_rules.py`.
"""

from headrace.common import Types
from headrace.datastream import KeyedBroadcastProcessFunction, RuntimeContext, StreamExecutionEnvironment
from headrace.datastream.state import ListStateDescriptor, MapStateDescriptor

# customer, currency, amount
PAYMENTS = [("ada", "EUR", 90), ("bob", "EUR", 400), ("ada", "USD", 700), ("cyn", "EUR", 120), ("bob", "JPY", 10)]
LIMITS = [("EUR", 100), ("USD", 500)]

LIMIT_STATE = MapStateDescriptor("limits", Types.STRING(), Types.LONG())
WAITING = ListStateDescriptor("waiting", Types.PICKLED_BYTE_ARRAY())


def judged(payment, limit: int) -> str:
    customer, currency, amount = payment
    return f"{customer} pays {amount} {currency}: {'too much' if amount > limit else 'fine'}"


class Check(KeyedBroadcastProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.waiting = runtime_context.get_list_state(WAITING)

    def process_element(self, value, ctx: KeyedBroadcastProcessFunction.ReadOnlyContext):
        limit = ctx.get_broadcast_state(LIMIT_STATE).get(value[1])
        if limit is None:
            self.waiting.add(value)
        else:
            yield judged(value, limit)

    def process_broadcast_element(self, value, ctx: KeyedBroadcastProcessFunction.Context):
        currency, limit = value
        ctx.get_broadcast_state(LIMIT_STATE).put(currency, limit)
        results = []

        def look_again(customer, waiting):  # called for every customer whose payments wait in this subtask
            payments = list(waiting.get())
            results.extend(judged(payment, limit) for payment in payments if payment[1] == currency)
            waiting.update([payment for payment in payments if payment[1] != currency])

        ctx.apply_to_keyed_state(WAITING, look_again)
        yield from results


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    payments = env.from_collection(PAYMENTS, Types.TUPLE([Types.STRING(), Types.STRING(), Types.LONG()]))
    limits = env.from_collection(LIMITS, Types.TUPLE([Types.STRING(), Types.LONG()]))
    (
        payments.key_by(lambda payment: payment[0], key_type=Types.STRING())
        .connect(limits.broadcast(LIMIT_STATE))
        .process(Check(), output_type=Types.STRING())
        .print()
    )
    env.execute("broadcast rules")


if __name__ == "__main__":
    main()
