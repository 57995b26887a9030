"""Finds webhook deliveries that failed in the platform's own log, and asks the platform to send them again.

A platform sends each delivery once, even if it fails. Periodically one of the replicas reads the logs, newest first,
down to where the last sweep stopped, and requests the deliveries of which no attempt succeeded. A redelivery arrives
through the webhook like any other and is taken once (`ghcrawl.ports.inbox`), so a superfluous request, or a crash
anywhere in here, changes nothing.

The state is one object in the store, shared by all replicas (`redelivery`). A replica that is about to sweep swaps it
for one with a lease; of several that try at the same moment one succeeds.
"""
