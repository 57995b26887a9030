"""Real servers and real workers, harmed in every way we know of: 28 cases, each ending with all that must hold.

     1  workers killed at random                          test_killed  (fifty of them: faults)
     2  workers killed at each point of the protocol      test_killed  (four times at each: faults)
     3  workers asked to end during load                  test_broker  a rolling restart of three
     4  the broker restarted                              test_broker
     5  the broker killed                                 test_broker
     6  connections reset                                 test_wire
     7  a black hole                                      test_wire
     8  answers that do not arrive                        test_wire
     9  a slow wire                                       test_wire
    10  cut between publish and confirm                   test_wire    with 8
    11  a channel closed under its consumers              test_broker  an acknowledgement that takes too long;
                                                          tests/integration/amqp/test_bad_days.py  a wrong marker
    12  a queue deleted                                   test_broker
    13  a binding removed                                 test_broker
    14  a broker short of memory                          test_broker
    15  the database killed, away for long, slow          test_database
    16  fifty that find the same hundred at once          test_order
    17  a request that kills its worker                   test_killed
    18  failures that pass and failures that do not       test_order
    19  the same message twice                            test_killed
    20  the older answer comes last                       test_order
    21  clocks that are wrong                             test_order
    22  a full disk                                       test_disk
    23  markers that vanish                                  test_order
    24  many restarts with full buffers                   test_broker
    25  delays that end while the broker is down          test_broker
    26  a flood in `later`; weights and loops live        test_order; tests/integration/amqp/test_manners.py
    27  the broker loses its disk                         test_broker
    28  processes killed while a tree is buried           test_burial

And besides: a node of a cluster that loses its disk (test_cluster), whoever requeues deadletters being killed
(test_requeue), and the negative control that must fail (test_killed).

`make test` runs 1, 2, 3, 6, 15, 17, 19 and the control; `make faults` all, and those of the broker and of burials also
on RabbitMQ 4.0 and on a cluster. `test_cases.py` holds each test to its case.
"""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.faults.crawl")

from tests.support.services.fixtures import broker, mongo_server, mongo_url, rabbitmq, vhost  # noqa: E402

__all__ = ["broker", "mongo_server", "mongo_url", "rabbitmq", "vhost"]
