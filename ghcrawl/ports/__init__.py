"""What the engine needs of the outside: a Protocol for each, and the values that pass through it.

An adapter translates its vendor's errors once: `QueueError` or `StoreError` with `raise … from`. Many loops call
every method at once. A method is never cancelled half-way: an adapter that was asked to write either did, or did not,
or raises.
"""
