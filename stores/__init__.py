"""Store adapters: documents and deadletters.

    rules             compare the stored document with a new one
    merging           the result of a save, for every store
    batcher           concurrent calls that share round trips
    jsontext          JSON as text that comes back unchanged
    deadletters       filter and requeue deadletters
    unit_of_work      make the effects of a request durable, then ack it
    inbox             take each webhook delivery once
    idempotency_keys  the ids of deliveries, as dedup markers
    memory            documents and deadletters in this process: the reference
    quotas, sources   quotas and sources in this process: the reference
    sqlite            everything in one file, which the queue shares
    mongo             everything in MongoDB

Every adapter must pass the contracts in `tests/contracts/`.
"""
