"""Store adapters: documents and deadletters.

    rules        the result of a save
    jsontext     JSON as text that comes back unchanged
    deadletters  what a filter means, and the way back to work
    ledger       effects made durable before a request is let go: in one transaction, or one after another
    memory       the reference, in this process
    sqlite       one file, with the queue: `sqlite_rows` is its schema, `sqlite_deadletters` what lies beside documents

Every adapter is held to the contracts in `tests/contracts/`.
"""
