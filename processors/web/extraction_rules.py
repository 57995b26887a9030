"""Which rule finds a post's title, text and author on its page: learned by comparing the page with its feed entry.

Algorithms 1 and 2 of the BlogForever crawler (Blanvillain, Kasioumis, Banos 2014): every element is named by one rule,
and the rule whose element is most like the entry wins. Likeness is the Sørensen–Dice coefficient of the sets of
character bigrams, which are united from the leaves up, so that each element is looked at once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, Final

from lxml import etree
from msgspec import Struct

from processors.web.html import SILENT, Node, squeezed, text_of

KEPT: Final = 5
"""Rules that one page votes for, most likely first."""
CANDIDATES: Final = 12
MAX_NODES: Final = 30_000
LEAST: Final = 0.3
"""A rule that is less like the entry than this is no vote."""
FOREIGN: Final = 0.2
"""Of a part of the article less than this is in the entry: it is none of what the author wrote."""
MAX_FOREIGN: Final = 10
AGREED: Final = 0.5
_WORD: Final = re.compile(r"\w+")
_RUN: Final = 3
"""Words in a row that are looked for."""


class Vote(Struct, frozen=True):
    """One page's vote. score: Dice coefficient, 0–1."""

    rule: str
    score: float


def bigrams(text: str) -> frozenset[str]:
    """The pairs of neighbouring characters, lower-cased."""
    text = squeezed(text).lower()
    return frozenset(text[index : index + 2] for index in range(len(text) - 1))


def dice(one: Iterable[str], other: Iterable[str]) -> float:
    """Sørensen–Dice of two sets, 0–1."""
    left, right = frozenset(one), frozenset(other)
    total = len(left) + len(right)
    return 2 * len(left & right) / total if total else 0.0


def likeness(one: str, other: str) -> float:
    """Dice of the bigrams of two texts."""
    return dice(bigrams(one), bigrams(other))


def rule_of(node: Node) -> str:
    """The one rule that names `node`: by its id, else its class, else its parent's rule and its tag; without digits."""
    steps: list[str] = []
    while node is not None:
        if named := _own_name(node):
            return named + "".join(f"/{tag}" for tag in reversed(steps))
        steps.append(str(node.tag))
        node = node.getparent()
    return "/" + "/".join(reversed(steps))


def _own_name(node: Node) -> str:
    for name in ("id", "class"):
        value = (node.get(name) or "").strip()
        if value and "'" not in value and not any(each.isdigit() for each in value):
            return f"//*[@{name}='{value}']"
    return ""


def votes(root: Node, wanted: Mapping[str, str]) -> dict[str, list[Vote]]:
    """For each wanted text (name → text), the rules that find what is most like it."""
    targets = {name: bigrams(text) for name, text in wanted.items() if len(text) > 1}
    scores: dict[str, dict[str, float]] = {name: {} for name in targets}
    for rule, found in _together(_grams(root)):
        for name, target in targets.items():
            scores[name][rule] = max(scores[name].get(rule, 0.0), dice(found, target))
    return {name: _confirmed(root, _best(found), targets[name]) for name, found in scores.items()}


def _confirmed(root: Node, ballot: Sequence[Vote], target: frozenset[str]) -> list[Vote]:
    """The likeliest of them, each measured again by what it finds: one may name more elements than it was made for."""
    found = {vote.rule: dice(bigrams(text_by(root, vote.rule)), target) for vote in ballot}
    return _best(found)[:KEPT]


def text_by(root: Node, rule: str, foreign: Sequence[Vote] = ()) -> str:
    """Text of the elements that `rule` selects, without those that `foreign` selects in them."""
    return " ".join(text_of(without(node, foreign) if foreign else node) for node in apply(root, rule))


def _together(grams: Iterable[tuple[Node, frozenset[str]]]) -> Iterable[tuple[str, frozenset[str]]]:
    """Rules with the bigrams of all that they find below one parent, such as the paragraphs of an article."""
    found: dict[tuple[str, Node], set[str]] = {}
    for node, mine in grams:
        found.setdefault((rule_of(node), node.getparent()), set()).update(mine)
    for (rule, _), united in found.items():
        yield rule, frozenset(united)


def _best(found: Mapping[str, float]) -> list[Vote]:
    ranked = sorted(found.items(), key=lambda each: (-each[1], "//*[@" not in each[0], len(each[0])))
    return [Vote(rule, round(score, 4)) for rule, score in ranked[:CANDIDATES] if score >= LEAST]


def _grams(root: Node) -> list[tuple[Node, frozenset[str]]]:
    """Every element with the bigrams of its text, in the order of the page."""
    body = next(iter(root.xpath("//body")), root)
    order: dict[Node, set[str]] = {}
    done: list[tuple[Node, frozenset[str]]] = []
    index: dict[Node, int] = {}
    for event, node in etree.iterwalk(body, events=("start", "end")):
        if event == "start":
            if len(index) >= MAX_NODES:
                break
            index[node] = len(index)
            order[node] = set() if node.tag in SILENT else set(bigrams(node.text or ""))
            continue
        mine = order.pop(node, None)
        if mine is None:
            continue
        if node.tag not in SILENT:
            done.append((node, frozenset(mine)))
        if (parent := order.get(node.getparent())) is not None:
            parent |= mine if node.tag not in SILENT else set()
            parent |= bigrams(node.tail or "")
    return sorted(done, key=lambda each: index[each[0]])


def elect(ballots: Sequence[Sequence[Vote]], weights: Sequence[float] = ()) -> tuple[Vote, ...]:
    """The rules that the pages agree on, best first: by the sum of their scores. score: their mean where they voted.

    weights: of the ballots; all the same unless given.
    """
    sums: dict[str, list[tuple[float, float]]] = {}
    for ballot, weight in zip(ballots, weights or [1.0] * len(ballots), strict=True):
        for vote in ballot:
            sums.setdefault(vote.rule, []).append((vote.score * weight, weight))
    ranked = sorted(sums.items(), key=lambda each: (-sum(score for score, _ in each[1]), each[0]))
    return tuple(Vote(rule, round(_mean(scores), 4)) for rule, scores in ranked[:KEPT])


def ranked(root: Node, ballot: Sequence[Vote], foreign: Sequence[Vote], text: str) -> list[Vote]:
    """The ballot by how like the entry's text each is once foreign parts are left out."""
    target = bigrams(text)
    found = [Vote(vote.rule, dice(bigrams(text_by(root, vote.rule, foreign)), target)) for vote in ballot]
    return sorted(found, key=lambda vote: -round(vote.score, 2))


def foreign(root: Node, ballot: Sequence[Vote], text: str) -> list[Vote]:
    """The named parts of the ballot's elements that `text`, the entry's, has nothing of: dates, buttons, tags."""
    known = frozenset(run for length in range(1, _RUN + 1) for run in _runs(text, length))
    found: dict[str, None] = {}
    for vote in ballot:
        for article in apply(root, vote.rule):
            found.update(dict.fromkeys(_foreign(article, known)))
    return [Vote(rule, 1.0) for rule in list(found)[:MAX_FOREIGN]]


def _foreign(article: Node, known: frozenset[tuple[str, ...]]) -> Iterator[str]:
    """The rules of the outermost ones."""
    for child in article:
        runs = _runs(text_of(child))
        share = len(runs & known) / len(runs) if runs else 1.0
        if share < FOREIGN and (rule := _own_name(child)):
            yield rule
        elif share < 1.0:
            yield from _foreign(child, known)


def _runs(text: str, length: int = _RUN) -> frozenset[tuple[str, ...]]:
    """Runs of this many words; all words where there are fewer."""
    words = _WORD.findall(text.lower())
    return frozenset(tuple(words[at : at + length]) for at in range(max(1, len(words) - length + 1)) if words)


def without(article: Node, rules: Sequence[Vote]) -> Node:
    """A copy of the article without what `rules` find in it."""
    foreign_ones = {each for vote in rules for each in article.getroottree().xpath(vote.rule)}
    kept = deepcopy(article)
    pairs = zip(article.iter(), kept.iter(), strict=True)
    for copy in [copy for each, copy in pairs if each in foreign_ones and copy is not kept]:
        if copy.getparent() is not None:
            copy.drop_tree()
    return kept


def agreed(ballots: Sequence[Sequence[Vote]]) -> tuple[Vote, ...]:
    """The rules that at least half of the ballots have."""
    counts = Counter(vote.rule for ballot in ballots for vote in ballot)
    share = {rule: count / len(ballots) for rule, count in counts.items()}
    return tuple(Vote(rule, round(found, 4)) for rule, found in share.items() if found >= AGREED)


def weight(text: str) -> float:
    """Weight of a page's vote on the rule for text: low for short texts, where any paragraph resembles the article."""
    return max(0.01, min(1.0, len(text) / 1_000))


def _mean(scores: Sequence[tuple[float, float]]) -> float:
    return sum(score for score, _ in scores) / sum(weight for _, weight in scores)


def apply(root: Node, rule: str) -> list[Node]:
    """The first element that `rule` finds, with those of the same parent that it finds as well."""
    try:
        found: Any = root.xpath(rule)
    except etree.XPathError:
        return []
    return [each for each in found if each.getparent() is found[0].getparent()]


def places(root: Node, ballot: Sequence[Vote]) -> int:
    """Under how many parents the first rule of the ballot that finds something finds it."""
    for vote in ballot:
        if apply(root, vote.rule):
            return len({each.getparent() for each in root.xpath(vote.rule)})
    return 0


def near(root: Node, votes_: Sequence[Vote], article: Node | None) -> list[Vote]:
    """The same votes, those nearer to the article first: score / (steps between the two + 1)."""
    if article is None:
        return list(votes_)
    ranked = []
    for vote in votes_:
        nodes = apply(root, vote.rule)
        if nodes and len(text_of(nodes[0])) < 200:
            ranked.append(Vote(vote.rule, round(vote.score / (_distance(nodes[0], article) + 1), 4)))
    return sorted(ranked, key=lambda vote: -vote.score)


def _distance(one: Node, other: Node) -> int:
    above = {node: steps for steps, node in enumerate([one, *one.iterancestors()])}
    for steps, node in enumerate([other, *other.iterancestors()]):
        if node in above:
            return steps + above[node]
    return len(above)
