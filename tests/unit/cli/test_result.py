from __future__ import annotations

import io
import json
from collections import Counter
from typing import Any

import pytest
from rich.console import Console

from ghcrawl.cli import summary
from ghcrawl.cli.result import Result
from ghcrawl.cli.roots import Refused
from ghcrawl.cli.snapshot import Quota
from ghcrawl.ports.deadletters import DeadletterCounts
from ghcrawl.ports.queue import Depth
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.lanes import QUEUES
from tests.support.builders import NOW, a_type, by_type


def a_tally() -> Tally:
    return Tally(
        settled_count=120,
        saved=by_type(issue=60, org=1, issues=3, cursor=1),
        unchanged=by_type(repo=2),
        skipped=Counter(visited=4, denied_sso=1),
        retried=Counter(http_503=2),
        statuses=Counter({200: 18, 304: 2}),
        free=2,
        charged=18,
    )


def a_result(**over: Any) -> Result:
    fields: dict[str, Any] = {
        "specs": ("acme",),
        "policy": "default",
        "bases": {"github": "https://api.example.test"},
        "db": "ghcrawl.db",
        "command": "ghcrawl crawl acme",
        "asked_at": NOW,
        "resumed": False,
        "finished": True,
        "interrupted": "",
        "trouble": "",
        "drained": True,
        "duration_s": 12.3456,
        "tally": a_tally(),
        "entity_types": (a_type("org"), a_type("repo"), a_type("issue")),
        "refused": (),
        "depths": dict.fromkeys(QUEUES, Depth()),
        "stored": by_type(issue=60, org=1, repo=2, issues=3, cursor=1),
        "deadletters": DeadletterCounts(),
        "free_again": True,
    }
    return Result(**(fields | over))


LETTERS = DeadletterCounts(total=5, by_kind={"Malformed": 3, "http_422": 2})
URL = "https://api.example.test/users/acme"
REFUSED = (Refused(spec="acme", url=URL, reason="missing", detail="404 Not Found"),)


@pytest.mark.parametrize(
    ("over", "status"),
    [
        ({}, 0),
        ({"deadletters": LETTERS}, 1),
        ({"refused": REFUSED}, 2),
        ({"refused": REFUSED, "deadletters": LETTERS}, 2),
        ({"finished": False, "trouble": "the disk is full"}, 2),
        ({"finished": False, "interrupted": "SIGINT", "deadletters": LETTERS}, 130),
        ({"finished": False, "interrupted": "SIGTERM", "deadletters": LETTERS}, 0),
    ],
)
def test_the_exit_status_says_how_it_ended(over: dict[str, Any], status: int) -> None:
    assert a_result(**over).exit_status == status


def test_the_figures_are_one_json_object_with_stable_names() -> None:
    quiet = Depth()
    depths = dict.fromkeys(QUEUES, quiet) | {"soon": Depth(ready=2, delayed=1, in_flight=1)}
    figures = json.loads(json.dumps(a_result(deadletters=LETTERS, refused=REFUSED, depths=depths).figures()))
    assert figures["entities"] == {
        "saved": 61,
        "saved_by_type": {"org": 1, "issue": 60},
        "calls_per_entity": round(20 / 61, 4),
        "stored": 63,
        "stored_by_type": {"org": 1, "repo": 2, "issue": 60},
        "stored_lists": 4,
    }
    assert figures["deadletters"] == {"buried": {}, "left": 5, "left_by_class": {"Malformed": 3, "http_422": 2}}
    assert figures["refused"] == [{"spec": "acme", "url": URL, "reason": "missing", "detail": "404 Not Found"}]
    assert figures["waiting"] == {"event": 0, "immediate": 0, "soon": 4, "normal": 0, "later": 0}
    assert figures["calls"]["not_modified"] == 2
    assert figures["requests"]["done"] == 118
    assert figures["asked_at"] == "2026-11-21T12:00:00.000Z"
    assert (figures["duration_s"], figures["finished"], figures["interrupted"], figures["stopped"]) == (
        12.346,
        True,
        None,
        None,
    )


def test_where_nothing_was_saved_there_are_no_calls_for_each() -> None:
    result = a_result(tally=Tally(), stored={}, asked_at=None, interrupted="SIGINT", finished=False)
    assert result.calls_per_entity is None
    assert result.figures()["asked_at"] is None
    assert result.figures()["interrupted"] == "SIGINT"


# For a person ----------------------------------------------------------------------------------------------------


def table_of(result: Result) -> list[str]:
    console = Console(file=io.StringIO(), width=80)
    console.print(summary.table(result))
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_the_table_has_the_things_first_and_sums_up_what_only_helps_to_find_them() -> None:
    assert table_of(a_result()) == [
        "type               saved  unchanged  in the file",
        "org                    1          0            1",
        "repo                   0          2            2",
        "issue                 60          0           60",
        "lists and cursors      4          0            4",
        "total                 65          2           67",
    ]


def test_the_facts_leave_out_what_there_is_none_of() -> None:
    assert dict(summary.facts(a_result())) == {
        "calls": "20, of which 2 free (304) and 18 charged; 0.33 per saved entity",
        "skipped": "already requested 4, denied: sso 1",
        "retried": "http_503 2",
    }
    quotas = [Quota(label="a", calls=50, remaining=10, limit=60), Quota(label="b"), Quota(label="c", trouble="refused")]
    facts = list(summary.facts(a_result(tally=Tally(), quotas=quotas, deadletters=LETTERS)))
    assert facts == [
        ("calls", "0, of which 0 free (304) and 0 charged"),
        ("deadletters", "5 in the file: Malformed 3, http_422 2"),
        ("quota", "a: 50 calls, 10 of 60 left"),
        ("quota", "c: refused"),
    ]


@pytest.mark.parametrize(
    ("over", "beginning"),
    [
        ({}, "Finished: 65 documents saved in 12 s."),
        (
            {"finished": False, "interrupted": "SIGINT"},
            "Stopped by Ctrl-C: 65 documents saved in 12 s; 0 requests wait",
        ),
        ({"finished": False, "interrupted": "SIGTERM"}, "Stopped by SIGTERM: "),
        ({"finished": False, "trouble": "x", "interrupted": "SIGINT"}, "Stopped: "),
    ],
)
def test_the_first_line_says_how_it_ended(over: dict[str, Any], beginning: str) -> None:
    assert summary.headline(a_result(**over)).startswith(beginning)


def test_what_to_type_next_leads_to_the_same_file() -> None:
    commands = [command for command, _ in summary.advice(a_result(deadletters=LETTERS, suggested=("--db", "a b.db")))]
    assert commands == [
        "ghcrawl deadletters list --db 'a b.db'",
        "ghcrawl documents list --limit 20 --db 'a b.db'",
        "ghcrawl documents export --output documents.jsonl --db 'a b.db'",
        "ghcrawl crawl acme",
    ]
    assert next(iter(summary.advice(a_result(finished=False)))) == ("ghcrawl crawl acme", "resume")
    assert not list(summary.advice(a_result(stored={})))
    waiting = [purpose for _, purpose in summary.advice(a_result(specs=()))]
    assert "refresh; unchanged data is free" not in waiting
    nowhere = [purpose for _, purpose in summary.advice(a_result(refused=REFUSED))]
    assert "refresh; unchanged data is free" not in nowhere


def test_a_refresh_is_called_free_only_where_an_unchanged_answer_costs_nothing() -> None:
    said = {free: [purpose for _, purpose in summary.advice(a_result(free_again=free))][-1] for free in (True, False)}
    assert said == {
        True: "refresh; unchanged data is free from the second refresh on",
        False: "refresh; unchanged data is not saved again, but each call counts",
    }


def test_what_went_wrong_is_one_line_each() -> None:
    assert list(summary.complaints(a_result(refused=REFUSED))) == [
        f"acme cannot be crawled: not found, 404 Not Found ({URL})"
    ]
    excluded = (Refused(spec="acme", url=URL, reason="excluded", detail=""),)
    assert list(summary.complaints(a_result(refused=excluded))) == [
        f"acme cannot be crawled: excluded by settings ({URL})"
    ]
    assert list(summary.complaints(a_result(trouble="the disk is full"))) == [
        "the disk is full. Nothing is lost: run the same command again to resume"
    ]
    assert list(summary.complaints(a_result(interrupted="SIGINT", drained=False))) == [
        "some requests were interrupted; they are queued again"
    ]
    assert list(summary.complaints(a_result(restarts=2))) == [
        "2 workers crashed and restarted: a bug in ghcrawl; -v shows the traceback"
    ]
    assert not list(summary.complaints(a_result()))
