"""Three RabbitMQ nodes as one broker."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tests.support.services.debian import Distribution
from tests.support.services.keeper import Keeper
from tests.support.services.network import until
from tests.support.services.rabbitmq import START_S, Broker, Server


class Cluster:
    """Nodes that know each other; quorum queues have a member on each. Any node serves."""

    def __init__(self, keeper: Keeper, distribution: Distribution) -> None:
        first = Broker(keeper, distribution, name="one")
        self.nodes = [
            first,
            *(Broker(keeper, distribution, name=name, epmd_port=first.epmd_port) for name in ("two", "three")),
        ]

    @property
    def server(self) -> Server:
        """The first node."""
        return self.nodes[0].server

    def start(self) -> None:
        """All nodes run and have joined."""
        with ThreadPoolExecutor() as threads:
            list(threads.map(lambda node: node.start(), self.nodes))
        for node in self.nodes[1:]:
            self.join(node)

    def join(self, node: Broker) -> None:
        """`node`, which runs and has nothing of its own to keep, is one of us."""
        node.control("stop_app")
        node.control("reset")
        node.control("join_cluster", self.nodes[0].node)
        node.control("start_app")
        until(node.ready, failed=lambda: None, patience_s=START_S)

    def stop(self) -> None:
        """All nodes are shut down, the first one last."""
        for node in reversed(self.nodes):
            node.stop()
