"""The benchmark of freshness on tiny worlds: the seed's rules, the score, and the shipped scheduler against others."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")
pytestmark = pytest.mark.slow

from benchmarks import freshness  # noqa: E402 - it needs numpy
from benchmarks.cuvim import division, paper  # noqa: E402
from benchmarks.cuvim.events import events_of  # noqa: E402
from benchmarks.cuvim.playing import Player, SimulatedApi  # noqa: E402
from benchmarks.cuvim.world import world  # noqa: E402
from ghcrawl.schedule.strategies import strategy_of  # noqa: E402

USERS, DAYS, BUDGET = 60, 10, 3.0


@pytest.fixture(scope="module")
def events():
    return world(1, users=USERS, scored=DAYS, history=14).events


def play(events, name="power", *, budget=lambda _: BUDGET, **options):
    player = Player(events=events, strategy=strategy_of(name), budget=budget, **options)
    return player, player.play()


class TestTheSeed:
    def test_the_organ_pipe_is_algorithm_1(self):
        assert paper.organ_pipe([0, 1, 2, 3, 4, 5]) == [0, 2, 4, 5, 3, 1]

    def test_theorem_1_double_the_delay_is_four_times_the_penalty(self):
        for at in (0.0, 3.0, 10.0):
            assert paper.penalty(2 * at, 20.0) == pytest.approx(4 * paper.penalty(at, 10.0))
        assert paper.penalty(5.0, 10.0) == paper.penalty(0.0, 10.0) / 2

    @pytest.mark.parametrize("users", [8, 9, 10, 11, 40, 41, 42, 43])
    def test_equation_5_the_difference_of_two_parts(self, users: int):
        first, step = 2.0, 3.0
        loads = [first + number * step for number in range(users)]
        parts = division.round_robin(loads, 2)
        expected = {0: 0.0, 1: first, 2: -step, 3: first - step}[users % 4]
        assert sum(parts[0]) - sum(parts[1]) == pytest.approx(expected)

    @pytest.mark.parametrize("method", [division.round_robin, division.recursive, division.set_division])
    @pytest.mark.parametrize("better", [division.longest_first, division.one_queue])
    def test_every_division_gives_each_user_to_one_machine(self, method, better):
        loads = division.frequencies(np.random.default_rng(1), 500).tolist()
        for divide in (method, better):
            parts = divide(loads, 8)
            assert sorted(each for part in parts for each in part) == sorted(loads)
        assert division.difference(division.longest_first(loads, 8)) <= division.difference(method(loads, 8)) + 1e-9

    @pytest.mark.parametrize("parts", [2, 4, 16])
    def test_recursive_round_robin_is_round_robin(self, parts: int):
        loads = division.frequencies(np.random.default_rng(1), 640).tolist()
        ours, plain = division.recursive(loads, parts), division.round_robin(loads, parts)
        assert sorted(map(sorted, ours)) == sorted(map(sorted, plain))

    def test_tables_3_and_4_are_near_the_papers(self):
        [two] = division.table([10_000], 2).values()
        [sixteen] = division.table([10_000], 16).values()
        assert two["random"] == pytest.approx(1_996, rel=0.35)
        assert two["round_robin"] == pytest.approx(145, rel=0.5)
        assert sixteen["recursive"] == pytest.approx(340, rel=0.5)

    def test_one_queue_is_even_to_one_answer(self):
        row = division.architectures([8], [1])[8]
        assert row["one_queue"] <= 100 < row["central"]

    def test_hash_by_a_fixed_half_asks_more_with_more_weight(self, events):
        counts = paper.hourly(events, 0)
        fixed = [paper.hash_model(counts, weight, fixed=True)[0] for weight in (0.4, 0.9)]
        mean = [paper.hash_model(counts, weight, fixed=False)[0] for weight in (0.4, 0.9)]
        assert fixed[1] - fixed[0] > abs(mean[1] - mean[0])

    def test_tables_have_all_rows_of_the_paper(self):
        tables = freshness.seed_tables(USERS, 40, [1])
        assert list(tables["table1_hash"]) == list(paper.HASH)
        assert [len(tables[name]) for name in ("table3_two_parts", "table4_sixteen_parts", "table5_6_machines")] == [
            7,
            4,
            5,
        ]


class TestOneCall:
    def test_it_sees_a_page_and_the_rest_is_lost(self):
        api = SimulatedApi(events_of([0] * 7, [-1.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.9], horizon=1.0), page=3)
        first = api.ask(0, 0.0)
        assert (len(first.times), first.truncated, api.delays) == (1, False, [])
        second = api.ask(0, 0.6)
        assert (len(second.times), second.truncated, api.lost) == (3, True, 2)
        assert api.delays == pytest.approx([0.3, 0.2, 0.1])
        assert api.ask(0, 0.6).times == []
        assert api.score().share == 3 / 6

    def test_history_is_seen_and_not_counted(self):
        api = SimulatedApi(events_of([0] * 250, np.linspace(-20, -1, 250), horizon=1.0))
        assert len(api.ask(0, 0.0).times) == 100
        assert (api.delays, api.lost) == ([], 0)


class TestPlaying:
    def test_a_world_is_the_same_for_the_same_seed(self, events):
        again = world(1, users=USERS, scored=DAYS, history=14).events
        assert (again.times == events.times).all()

    def test_the_budget_is_never_exceeded_and_spent_in_full(self, events):
        player, score = play(events)
        assert set(player.spent) == {3}
        assert score.calls == USERS + 3 * 24 * DAYS

    @pytest.mark.parametrize("name", freshness.NAMES)
    def test_every_strategy_plays(self, events, name: str):
        assert play(events, name)[1].share > 0.5

    def test_the_ticker_finds_what_the_exact_index_finds(self, events):
        _, ticker = play(events)
        _, exact = play(events, exact=True, max_age_d=0)
        assert ticker.items >= 0.99 * exact.items

    def test_power_is_no_worse_than_all_alike(self, events):
        _, power = play(events)
        _, alike = play(events, "round_robin")
        assert power.items >= alike.items
        assert power.mean_h < alike.mean_h

    def test_half_the_budget_is_half_the_calls_within_one_tick_and_no_oscillation(self, events):
        player, _ = play(events, budget=lambda day: 4.0 if day < 3 or day > 6 else 2.0)
        spent = player.spent
        assert spent[60:70] == [4] * 10
        assert set(spent[73:143]) == {2}
        assert set(spent[145:]) == {4}
        shocked = player.prices[73:143]
        assert shocked[-1] > shocked[0], "calls became dearer"
        turns = sum((b - a) * (c - b) < 0 for a, b, c in zip(shocked, shocked[1:], shocked[2:], strict=False))
        assert max(shocked) < 4 * min(shocked), f"{turns} turns, but no swings"

    def test_a_budget_of_nothing_reads_everything_once_and_no_more(self, events):
        player, score = play(events, budget=lambda _: 0.0)
        assert score.calls == USERS
        assert not any(player.spent)

    def test_free_answers_are_used_up_to_what_may_be_asked(self, events):
        player, score = play(events, free=True, asks=20.0)
        assert player.charged <= USERS + 3 * 24 * DAYS + 1
        assert score.calls > 1.5 * player.charged
        assert score.mean_h < play(events)[1].mean_h

    def test_no_events_are_no_trouble(self):
        assert play(events_of([], [], sources=3, horizon=2.0))[1].share == 1.0


class TestTheCommand:
    def run(self, monkeypatch, capsys, *words: str):
        monkeypatch.setattr(sys, "argv", ["freshness", *words])
        freshness.main()
        return capsys.readouterr().out

    def test_events_of_a_file(self, tmp_path: Path, monkeypatch, capsys):
        file = tmp_path / "events.npz"
        np.savez(file, source=np.asarray([7, 7, 9, 9, 9]), time=np.asarray([-2.0, 1.5, 0.25, 0.5, 2.2]))
        told = json.loads(
            self.run(monkeypatch, capsys, "--events", str(file), "--budget", "1", "--json", "--jobs", "1")
        )
        assert (told["sources"], told["items"], told["shipped"]) == (2, 4, "power")
        assert set(told["strategies"]) == {*freshness.NAMES, "power_exact"}
        power = told["strategies"]["power"]
        assert (power["items"], power["share"], power["lost"], power["calls"]) == (4, 1.0, 0, 2 + 72)
        assert 0 < power["mean_h"] < 3

    def test_tables_and_a_plot_of_synthetic_worlds(self, tmp_path: Path, monkeypatch, capsys):
        pytest.importorskip("matplotlib")
        plot = tmp_path / "f.png"
        words = ["--users", "30", "--days", "35", "--seeds", "1", "--budgets", "1", "--jobs", "1"]
        words += ["--strategies", "power", "round_robin", "--plot"]
        told = self.run(monkeypatch, capsys, *words, str(plot))
        assert plot.read_bytes().startswith(b"\x89PNG")
        for each in ("1 calls an hour", "Table 1", "Table 2", "Table 3", "Table 4", "Tables 5 and 6", "1,853,085"):
            assert each in told

    @pytest.mark.parametrize(
        ("arrays", "said"),
        [
            ({"source": [1]}, "no array time"),
            ({"source": [1, 2], "time": [1.0]}, "same length"),
            ({"source": [-1], "time": [1.0]}, "integers from 0"),
            ({"source": [1], "time": [float("nan")]}, "finite"),
        ],
    )
    def test_a_file_that_is_none_is_refused_with_a_sentence(self, tmp_path, monkeypatch, capsys, arrays, said):
        file = tmp_path / "events.npz"
        np.savez(file, **{name: np.asarray(values) for name, values in arrays.items()})
        with pytest.raises(SystemExit, match=said):
            self.run(monkeypatch, capsys, "--events", str(file), "--json", "--jobs", "1")
