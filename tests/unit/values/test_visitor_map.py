"""The visitor map: what lies behind each link from each position."""

from __future__ import annotations

import pytest

from ghcrawl.values.errors import SpecError
from ghcrawl.values.visitor_map import Scenarios

SCENARIOS = Scenarios(
    {
        "default": {
            "org": {"repos": "repo", "members": "self", "billing": "none"},
            "repo": {"issues": "issue", "commits": "pages", "owner": {"repos": "self"}},
            "issue": {"user": "self"},
        },
        "light": {"org": {"repos": "self"}},
    }
)


def test_a_list_is_walked_at_its_own_position_and_its_elements_at_the_named_map():
    step = SCENARIOS.next_hops("default:repo").links["issues"]

    assert step.pages == "default:repo@/issues"
    assert step.thing == "default:issue"
    assert SCENARIOS.next_hops(step.pages).element == "default:issue"


def test_the_same_thing_has_the_same_position_however_it_was_reached():
    behind_an_issue = SCENARIOS.next_hops("default:issue").links["user"].thing
    behind_an_org = SCENARIOS.next_hops("default:org").links["members"].thing

    assert behind_an_issue == behind_an_org == "default:self"
    assert SCENARIOS.next_hops("default:self").links == {}


def test_pages_without_elements_are_walked_and_nothing_behind_them():
    step = SCENARIOS.next_hops("default:repo").links["commits"]

    assert step.thing is None
    assert SCENARIOS.next_hops(step.pages).element is None


def test_what_leads_to_none_is_not_followed():
    assert "billing" not in SCENARIOS.next_hops("default:org").links


def test_a_map_written_in_place_is_walked_by_path():
    owner = SCENARIOS.next_hops("default:repo").links["owner"].thing

    assert owner == "default:repo@/owner"
    assert SCENARIOS.next_hops(owner).links["repos"].thing == "default:self"


def test_the_policy_and_scenario_travel_on():
    step = SCENARIOS.next_hops("reload:light/org").links["repos"]

    assert step.thing == "reload:light/self"


@pytest.mark.parametrize("spec", ["default:planet", "default:repo@/moons", "dark/org", "default:dark/org"])
def test_a_position_that_does_not_exist_is_refused(spec: str):
    with pytest.raises(SpecError):
        SCENARIOS.next_hops(spec)
