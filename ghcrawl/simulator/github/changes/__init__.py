"""What can happen in a world: every function is one change, made at the world's clock.

Each bumps what GitHub bumps, and leaves alone what GitHub leaves alone: a deleted comment bumps nothing, a renamed
label is renamed on issues that say they have not changed. Each returns a `Change` that says what happened.
"""

# ruff: noqa: F403  # every function of these modules is a change
from ghcrawl.simulator.github.changes.change import Change as Change
from ghcrawl.simulator.github.changes.issues import *
from ghcrawl.simulator.github.changes.people import *
from ghcrawl.simulator.github.changes.pulls import *
from ghcrawl.simulator.github.changes.repos import *
from ghcrawl.simulator.github.changes.weather import random_change as random_change
