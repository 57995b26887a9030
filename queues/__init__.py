"""Queue adapters: the five queues behind one port.

    codec           what travels: Request ⇄ versioned bytes
    merging         how two copies of one request become one
    dedup_protocol  markers that keep two copies of a request from waiting in a broker
    weighted        the order in which one pop tries the queues
    memory          the reference, in this process; memory_dedup: its markers
    sqlite          one file, with the store: `pops` is how pops wait for it, `table` what happens inside it
    amqp            RabbitMQ

Every adapter is held to `tests/contracts/queue_contract.py`.
"""
