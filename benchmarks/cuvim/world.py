"""A synthetic social network: users whose posting was fitted to the seed's figures of ten thousand Weibo accounts."""

from __future__ import annotations

from typing import Final

import numpy as np
from msgspec import Struct

from benchmarks.cuvim.events import Events, Floats, Ints, events_of

CLASSES: Final = ("inactive", "instable", "constant", "authority")
SHARES: Final = (0.50, 0.17, 0.29, 0.04)
HISTORY_D: Final = 30
SCORED_D: Final = 61
USERS: Final = 10_000
CHUNK: Final = 500
DAY_OF_WEEK: Final = (1.03, 1.07, 1.06, 1.05, 1.05, 0.93, 0.72)

RATE_MEDIAN: Final = (0.27, 1.7, 3.2, 18.0)
"""Items a day of a class's median user; the spread is the sigma of the lognormal distribution."""
RATE_SPREAD: Final = (1.35, 1.0, 0.92, 0.7)
DAY_SHAPE: Final = (0.5, 0.9, 1.6, 8.0)
"""Shape of the gamma noise of days: small is bursty."""
BLOCK_SHAPE: Final = (0.6, 1.2, 3.0, 20.0)
SESSION_SHAPE: Final = 0.7
BLOCK_D: Final = 6
ON_D, OFF_D = 4.0, 10.0


class World(Struct, frozen=True):
    """events: with 30 days of history at negative times. kinds: class of each user. rates: what each was made with."""

    events: Events
    kinds: Ints
    rates: Floats


def world(seed: int, *, users: int = USERS, scored: int = SCORED_D, history: int = HISTORY_D) -> World:
    """Users of four classes whose rates, bursts and hours follow the seed's figures. Same arguments, same world."""
    random = np.random.default_rng(seed)
    kinds = random.choice(len(CLASSES), size=users, p=SHARES)
    spread = np.asarray(RATE_SPREAD)[kinds]
    rates = np.asarray(RATE_MEDIAN)[kinds] * np.exp(spread * random.standard_normal(users))
    owners, times = [], []
    for begin in range(0, users, CHUNK):
        part = slice(begin, min(begin + CHUNK, users))
        owner, time = _posts(random, kinds[part], rates[part], history + scored)
        owners.append(owner + begin)
        times.append(time - history)
    events = events_of(np.concatenate(owners), np.concatenate(times), sources=users, horizon=float(scored))
    return World(events, kinds, rates)


def _posts(random: np.random.Generator, kinds: Ints, rates: Floats, days: int) -> tuple[Ints, Floats]:
    """User and time of every post of some users."""
    means = rates[:, None] * _pace_of_days(random, kinds, days)
    hourly = means[:, :, None] * _hours(random, kinds)[:, None, :]
    hourly = hourly * random.gamma(SESSION_SHAPE, 1.0 / SESSION_SHAPE, size=hourly.shape)
    counts = random.poisson(hourly)
    user, day, hour = np.nonzero(counts)
    times = counts[user, day, hour]
    user, day, hour = (np.repeat(each, times) for each in (user, day, hour))
    within = random.random(len(user))
    punctual = kinds[user] == 3
    within = np.where(punctual, within * within * 0.2, within)  # clerks and robots post on the hour
    return user.astype(np.int64), (day + (hour + within) / 24.0).astype(np.float64)


def _pace_of_days(random: np.random.Generator, kinds: Ints, days: int) -> Floats:
    """What each user's day is like beside the mean one: weekday, mood, blocks of days, on and off."""
    users = len(kinds)
    week = np.asarray(DAY_OF_WEEK)[np.arange(days) % 7] / np.mean(DAY_OF_WEEK)
    shape = np.asarray(DAY_SHAPE)[kinds][:, None]
    noise = random.gamma(np.broadcast_to(shape, (users, days))) / shape
    shape = np.asarray(BLOCK_SHAPE)[kinds][:, None]
    blocks = random.gamma(np.broadcast_to(shape, (users, days // BLOCK_D + 2))) / shape
    offset = random.integers(0, BLOCK_D, size=users)[:, None]
    block = np.take_along_axis(blocks, (np.arange(days)[None, :] + offset) // BLOCK_D, axis=1)
    pace = week[None, :] * noise * block
    return np.asarray(np.where((kinds == 1)[:, None], pace * _on_and_off(random, users, days), pace))


def _on_and_off(random: np.random.Generator, users: int, days: int) -> Floats:
    """Instable users: some days on, more days off, with the same mean."""
    on = random.random(users) < ON_D / (ON_D + OFF_D)
    states = np.empty((users, days))
    for day in range(days):
        flip = random.random(users) < np.where(on, 1.0 / ON_D, 1.0 / OFF_D)
        on = on ^ flip
        states[:, day] = on
    return states * (ON_D + OFF_D) / ON_D


def _hours(random: np.random.Generator, kinds: Ints) -> Floats:
    """The part of a user's day that falls into each hour: an afternoon and an evening, shifted for each person."""
    users, hours = len(kinds), np.arange(24)[None, :]
    owls = random.random(users) < 0.12
    shift = 1.5 * random.standard_normal(users) + np.where(owls, 6.0, 0.0)
    evening = random.beta(3.0, 2.0, size=users)[:, None]

    def bump(at: float, width: float) -> Floats:
        apart = (hours - at - shift[:, None] + 12.0) % 24.0 - 12.0
        return np.asarray(np.exp(-0.5 * (apart / width) ** 2))

    profile = 0.05 + (1.0 - evening) * bump(14.5, 2.5) + evening * bump(21.0, 2.0)
    robots = np.where((hours >= 7) & (hours <= 23), 1.0, 0.02)
    profile = np.where((kinds == 3)[:, None], robots, profile)
    return np.asarray(profile / profile.sum(axis=1, keepdims=True))
