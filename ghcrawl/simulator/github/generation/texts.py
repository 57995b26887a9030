"""Words. Some of what people really write breaks parsers; so does some of this."""

from __future__ import annotations

from random import Random
from typing import Final

from ghcrawl.simulator.chance import seeded


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


NOUNS: Final = _words(
    "cache parser queue worker socket token header cursor index buffer schema router session retry timeout "
    "payload webhook crawler document store thread lock stream encoder shard replica migration limiter validator"
)
VERBS: Final = _words(
    "fix drop add rename cache retry split guard document test bump remove inline speed-up deprecate restore"
)
FILLERS: Final = _words(
    "when the after a restart under load with two of them on Windows in production since last week while "
    "draining although it should not and again for every request because of an off-by-one"
)
FIRST_NAMES: Final = _words(
    "ada grace alan edsger barbara donald margaret dennis ken linus radia frances john leslie tony niklaus adele "
    "hedy katherine annie joan evelyn anita shafi silvio manuel judea robin dana michael"
)
LAST_NAMES: Final = _words(
    "lovelace hopper turing dijkstra liskov knuth hamilton ritchie thompson perlman allen mccarthy lamport hoare "
    "wirth goldberg lamarr johnson easley clarke borg goldwasser micali blum pearl milner scott rabin"
)
PLACES: Final = ("Oslo", "São Paulo", "東京", "Kraków", "Nairobi", "Zürich", "Montréal", None)
LANGUAGES: Final = ("Python", "Go", "Rust", "TypeScript", "C", None)
PATHS: Final = ("src/main.py", "README.md", "docs/über uns.md", "lib/queue.go", "a/b/c/deep#name.rs", "Makefile")

ODD_BODIES: Final = (
    "Ünïcødé, 日本語, العربية and 🧑‍💻🏳️‍🌈 in one line.",
    "Windows line ends\r\nand a tab\there.",
    '```json\n{"$set": {"a.b": 1}, "_metadata": null}\n```',
    "<script>alert('no')</script> & \"quotes\" \\ backslashes",
    "Zero\u200bwidth, a combining a\u0301 and a line\u2028separator.",
)
LONG_BODY: Final = "A log that somebody pasted whole. 0123456789abcdef\n" * 600


def title(rng: Random) -> str:
    """A title as people write them."""
    return f"{rng.choice(VERBS)} {rng.choice(NOUNS)} {rng.choice(FILLERS)} {rng.choice(NOUNS)}"


def _clauses(count: int) -> tuple[str, ...]:
    rng = seeded(0, "clauses")
    return tuple(" ".join((*rng.choices(FILLERS, k=rng.randint(3, 9)), rng.choice(NOUNS))) for _ in range(count))


_CLAUSES: Final = _clauses(128)
"""Ready made, because a large world has tens of thousands of bodies."""


def body(rng: Random) -> str:
    """A few dozen words, and now and then something odd."""
    bits = rng.getrandbits(32)
    if bits & 31 == 0:
        return ODD_BODIES[(bits >> 5) % len(ODD_BODIES)]
    first, second, third = (_CLAUSES[(bits >> shift) & 127] for shift in (5, 12, 19))
    return f"{first.capitalize()}, {second} {third}."
