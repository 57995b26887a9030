"""Which rule finds a post's title, text and author on its page: learned by comparing the page with its feed entry.

Algorithms 1 and 2 of the BlogForever crawler (Blanvillain, Kasioumis, Banos 2014): every element is named by one rule,
and the rule whose element is most like the entry wins. Likeness is the Sørensen–Dice coefficient of the sets of
character bigrams, which are united from the leaves up, so that each element is looked at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lxml import etree

from processors.web.html import SILENT, Node, squeezed, text_of

KEPT: Final = 5
"""Rules that one page votes for, the likeliest first."""
MAX_NODES: Final = 30_000
LEAST: Final = 0.3
"""A rule that is less like the entry than this is no vote."""


@dataclass(frozen=True, slots=True)
class Vote:
    """One page's vote. score: Dice coefficient, 0–1."""

    rule: str
    score: float


def bigrams(text: str) -> frozenset[str]:
    """The pairs of neighbouring characters, whatever the case."""
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
        for name in ("id", "class"):
            value = (node.get(name) or "").strip()
            if value and "'" not in value and not any(each.isdigit() for each in value):
                return f"//*[@{name}='{value}']" + "".join(f"/{tag}" for tag in reversed(steps))
        steps.append(str(node.tag))
        node = node.getparent()
    return "/" + "/".join(reversed(steps))


def votes(root: Node, wanted: Mapping[str, str]) -> dict[str, list[Vote]]:
    """For each wanted text (name → text), the rules that find what is most like it."""
    targets = {name: bigrams(text) for name, text in wanted.items() if len(text) > 1}
    scores: dict[str, dict[str, float]] = {name: {} for name in targets}
    for rule, found in _together(_grams(root)):
        measured = {name: dice(found, target) for name, target in targets.items()}
        for name, score in measured.items():
            if score >= LEAST and rule not in scores[name]:  # a rule is its first elements
                scores[name][rule] = score
    return {name: _best(found) for name, found in scores.items()}


def _together(grams: Iterable[tuple[Node, frozenset[str]]]) -> Iterable[tuple[str, frozenset[str]]]:
    """Rules with the bigrams of all that they find below one parent, such as the paragraphs of an article."""
    found: dict[tuple[str, Node], set[str]] = {}
    for node, mine in grams:
        found.setdefault((rule_of(node), node.getparent()), set()).update(mine)
    for (rule, _), united in found.items():
        yield rule, frozenset(united)


def _best(found: Mapping[str, float]) -> list[Vote]:
    ranked = sorted(found.items(), key=lambda each: (-each[1], "//*[@" not in each[0], len(each[0])))
    return [Vote(rule, round(score, 4)) for rule, score in ranked[:KEPT]]


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


def weight(text: str) -> float:
    """What a page's vote on where its text is counts: in a short one, one paragraph is as good as the article."""
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
