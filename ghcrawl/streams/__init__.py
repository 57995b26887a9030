"""Streams: what happens on a platform is queued as it happens, by one of all replicas.

A document of a platform's stream kind is a subscription: while it is there, one replica produces what it asks for. That
replica holds a lease, in one object of the store with the cursor; both are written in one step after the items before
the cursor are durable. So a crash anywhere tells some items again, which changes nothing, and loses none.
"""
