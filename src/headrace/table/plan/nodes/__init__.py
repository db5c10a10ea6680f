"""Physical nodes: how a query runs. Frozen data; `translate` turns them into operators, `explain` into text."""
