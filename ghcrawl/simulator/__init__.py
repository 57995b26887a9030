"""What every simulated API shares: a server on loopback, a clock, faults, and a journal of its calls.

Each platform has a package of its own below this one; nothing here knows which.
"""
