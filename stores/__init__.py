"""Store adapters: documents and deadletters, on whatever keeps them.

rules      what a save comes to                              jsontext     JSON that comes back unchanged
memory     the reference, in this process                    deadletters  filters, and the way back to work
sqlite     documents in one file; `sqlite_rows` is its schema, `sqlite_deadletters` the deadletters beside it
ledger     effects made durable before a request is let go: in one transaction, or one after another
"""
