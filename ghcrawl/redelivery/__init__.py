"""Webhook deliveries that failed are found in the platform's own log, and the platform is asked to send them again.

A platform sends each delivery once, even if it fails. Periodically one of the replicas reads the logs, newest
first, down to where the last sweep stopped, and asks for the deliveries of which no attempt succeeded. A redelivery
comes in through the webhook like any other and is taken once (`ghcrawl.ports.inbox`), so a request too many, or a crash
anywhere in here, changes nothing.

The state is one object in the store, shared by all replicas (`redelivery`). A replica that wants to sweep swaps it for
one with a lease; of several that try at the same moment one succeeds.
"""

from ghcrawl.ports.webhooks import ApiFailure, Attempt, Hooks, Page
from ghcrawl.redelivery.state import Lost, Redelivered, Run, State
from ghcrawl.redelivery.sweep import Pace
from ghcrawl.redelivery.turns import Redelivery

__all__ = ["ApiFailure", "Attempt", "Hooks", "Lost", "Pace", "Page", "Redelivered", "Redelivery", "Run", "State"]
