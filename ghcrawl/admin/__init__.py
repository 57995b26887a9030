"""The HTTP surface of a running service: webhooks in, an admin API for operators, metrics and probes.

    server.py   opens the two ports                 routing.py   routes as values, and what every one of them keeps
    site.py     what the routes work on: ports      openapi.py   the routes, described
    access.py   who may do what                     problems.py  what goes wrong, as RFC 9457 says
    webhook.py  deliveries                          probes.py    /metrics, /livez, /readyz
    legacy*.py  the predecessor's routes            the rest     a small file for each group of routes

Knows no platform, queue or store: everything comes as a port or a value.
"""
