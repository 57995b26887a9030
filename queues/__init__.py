"""Queue adapters: the five queues as one thing, on whatever keeps them.

    codec      what travels: Request ⇄ versioned bytes
    dedup      what two copies of one request come to
    weighted   the order in which one pop tries the queues
    memory     the reference, in this process
    sqlite     one file, with the store: `sqlite_pops` is how pops wait for it, `sqlite_table` what happens inside it

Every adapter is held to `tests/contracts/queue_contract.py`.
"""
