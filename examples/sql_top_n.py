"""The two best bids of each auction, kept up to date: ROW_NUMBER in a subquery, bounded outside.

Run it with `python examples/sql_top_n.py`.
"""

from headrace.table import EnvironmentSettings, TableEnvironment

QUERY = """
    SELECT auction, place, bidder, price
    FROM (
        SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) AS place
        FROM bids
    )
    WHERE place <= 2
"""


def main() -> None:
    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    bids = [("lamp", "ann", 10), ("lamp", "bob", 12), ("sofa", "cid", 90), ("lamp", "dan", 11), ("lamp", "ann", 15)]
    tables.create_temporary_view("bids", tables.from_elements(bids, ["auction", "bidder", "price"]))
    best = {}
    with tables.execute_sql(QUERY).collect() as changes:
        for change in changes:
            auction, place, bidder, price = change
            if str(change.get_row_kind()) in ("+I", "+U"):
                best[auction, place] = (bidder, price)
    for (auction, place), (bidder, price) in sorted(best.items()):
        print(f"{auction} {place}. {bidder} {price}")


if __name__ == "__main__":
    main()
