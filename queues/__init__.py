"""Queue adapters: the five queues behind one port.

    codec      what travels: Request ⇄ versioned bytes
    dedup      how two copies of one request are merged
    weighted   the order in which one pop tries the queues
    memory     the reference, in this process
    sqlite     one file, with the store: `sqlite_pops` is how pops wait for it, `sqlite_table` what happens inside it

Every adapter is held to `tests/contracts/queue_contract.py`.
"""
