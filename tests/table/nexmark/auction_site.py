"""Writes the events of the Nexmark queries: an auction site's people, auctions and bids, the same at every run."""

from __future__ import annotations

import json
import random
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

_START = datetime(2024, 3, 9, 23, 57, 30)
_STATES = ["OR", "ID", "CA", "WA", "AZ"]
_CITIES = ["Phoenix", "Portland", "Boise", "Kent"]
_CHANNELS = ["Google", "facebook", "Baidu", "apple", "channel-17", "channel-204"]


def write_events(path: Path, count: int, seed: int = 7) -> None:
    """Write `count` events as lines of JSON: 1 in 10 a person, 2 in 10 an auction, the rest bids."""
    chance = random.Random(seed)
    people, auctions = 0, 0
    with path.open("w") as lines:
        for number in range(count):
            # Events are up to three seconds out of order; the watermark allows four.
            moment = _START + timedelta(milliseconds=number * 400 - chance.randrange(3000))
            event: dict[str, Any] = {"event_type": 2, "person": None, "auction": None, "bid": None}
            if number % 10 == 0:
                event.update(event_type=0, person=_person(chance, 1000 + people, moment))
                people += 1
            elif number % 10 in (1, 5):
                event.update(event_type=1, auction=_auction(chance, 1000 + auctions, people, moment))
                auctions += 1
            else:
                event["bid"] = _bid(chance, auctions, people, moment)
            lines.write(json.dumps(event) + "\n")


def write_rates(path: Path, count: int) -> None:
    """Write the rows that bids are looked up in."""
    path.write_text("".join(f"{key},rate {key}\n" for key in range(count)))


def _person(chance: random.Random, number: int, moment: datetime) -> dict[str, Any]:
    return {
        "id": number,
        "name": f"person {number % 17}",
        "email": f"p{number}@example.org",
        "card": " ".join(f"{chance.randrange(10000):04}" for _ in range(4)),
        "city": chance.choice(_CITIES),
        "state": chance.choice(_STATES),
        "moment": _text(moment),
        "extra": _extra(chance),
    }


def _auction(chance: random.Random, number: int, people: int, moment: datetime) -> dict[str, Any]:
    first = chance.randrange(1, 500)
    return {
        "id": number,
        "item": f"item {number % 23}",
        "about": f"about item {number}",
        "first_bid": first,
        "reserve": first + chance.randrange(800),
        "moment": _text(moment),
        "expires": _text(moment + timedelta(seconds=chance.randrange(5, 60))),
        "seller": 1000 + max(0, people - 1 - chance.randrange(4)),
        "category": 10 + chance.randrange(5),
        "extra": _extra(chance),
    }


def _bid(chance: random.Random, auctions: int, people: int, moment: datetime) -> dict[str, Any]:
    channel = chance.choice(_CHANNELS)
    number = channel.rpartition("-")[2] if "-" in channel else chance.randrange(9)
    query = f"&channel_id={number}" if chance.random() < 0.7 else ""
    return {
        "auction": 1000 + max(0, auctions - 1 - chance.randrange(6)),
        "bidder": 1000 + max(0, people - 1 - chance.randrange(5)),
        "price": int(10 ** (chance.random() * 5) * 100),
        "channel": channel,
        "url": f"https://www.example.org/dir{chance.randrange(4)}/sub{chance.randrange(3)}/item.htm?query=1{query}",
        "moment": _text(moment),
        "extra": _extra(chance),
    }


def _extra(chance: random.Random) -> str:
    return "".join(chance.choice("abc xyz") for _ in range(chance.randrange(3, 12)))


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
