"""Deliveries that never arrived: found in what the platform remembers of its webhooks, and asked for again.

A platform hands over each delivery once, whatever comes of it. So every now and then one of the replicas reads the
lists of what was tried, newest first, down to where the last walk began, and asks for those that arrived neither then
nor later. What is asked for comes in through the webhook like any other delivery and is taken once, however often it
is sent (`ghcrawl.receipts`): asking once too often changes nothing, and so does a crash anywhere in here.

Everything known of it is one object in the store, which all replicas share (`redelivery`). Who wants to sweep swaps it
for one with a lease on it; of several who try in the same moment one succeeds.
"""

from ghcrawl.redelivery.port import Attempt, Hooks, Page, Trouble
from ghcrawl.redelivery.state import Asked, Lost, Run, State
from ghcrawl.redelivery.sweep import Pace
from ghcrawl.redelivery.turns import Redelivery

__all__ = ["Asked", "Attempt", "Hooks", "Lost", "Pace", "Page", "Redelivery", "Run", "State", "Trouble"]
