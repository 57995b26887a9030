"""`python -m tests.support.services [3.10|4.0|cluster] …`: servers to try things on, until Ctrl-C."""

from __future__ import annotations

import signal
import sys

from tests.support.services.cluster import Cluster
from tests.support.services.debian import Unavailable
from tests.support.services.fixtures import keeper
from tests.support.services.mongo import MongoServer
from tests.support.services.rabbitmq import Broker
from tests.support.services.wanted import AMQP_URL, DISTRIBUTIONS, MANAGEMENT_URL, MONGO_URL


def main(kind: str) -> None:
    """Start them, print how to reach them, and stop them when told to."""
    with keeper("services") as kept:
        print("starting; the first time takes some minutes ...", file=sys.stderr)
        mongo = MongoServer(kept)
        mongo.start()
        distribution = DISTRIBUTIONS[kind]()
        broker = Cluster(kept, distribution) if kind == "cluster" else Broker(kept, distribution)
        broker.start()
        print(f"export {AMQP_URL}={broker.server.url}")
        print(f"export {MANAGEMENT_URL}={broker.server.management_url}")
        print(f"export {MONGO_URL}={mongo.url}", flush=True)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})


if __name__ == "__main__":
    wanted = sys.argv[1] if len(sys.argv) > 1 else "3.10"
    if wanted not in DISTRIBUTIONS:
        sys.exit(f"{wanted}: there are {', '.join(DISTRIBUTIONS)}")
    try:
        main(wanted)
    except Unavailable as error:
        sys.exit(str(error))
