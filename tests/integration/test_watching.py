"""What is watched is asked by the schedule alone, and news of it arrive, with GitHub's own feeds."""

from __future__ import annotations

from pathlib import Path

from ghcrawl.schedule.asking import watch, watched
from ghcrawl.schedule.poolstate import from_json, state_name
from ghcrawl.simulator.github.generation.size import SMALL
from ghcrawl.values.frozen import replace
from tests.support.living import ORGS, living

BUSY = replace(SMALL, quirks=False)
CHANGES = 60
BETWEEN_S = 5


async def test_the_schedule_finds_what_happens_and_learns_how_often_it_does(tmp_path: Path):
    async with living(tmp_path, BUSY, seed=2) as it:
        await it.crawl("default")
        service = it.service
        platform, backend = service.platforms["github"], service.backend
        roots = [platform.read_spec(spec, it.stage.server.url, "default") for spec in ORGS]
        wanted = [watched("github", platform.feed, root) for root in roots]
        assert await watch(backend.sources, backend.store, {"github": platform.feed}, wanted) == len(ORGS)

        await service.look_again()
        await it.settle()
        before = {each.key: each for each in await backend.sources.list(limit=10)}
        assert all(each.estimate.last is not None for each in before.values()), "both were read"

        events_before = await backend.store.counts()
        for number in range(1, CHANGES + 1):
            await it.clock.sleep(BETWEEN_S)
            it.life.step()
            if number % 6 == 0:
                await service.look_again()
        await it.clock.sleep(120)
        await service.look_again()
        await it.settle()

        after = {each.key: each for each in await backend.sources.list(limit=10)}
        state = from_json(await backend.store.read_state(state_name("github")))
        counts = await backend.store.counts()
        assert await it.deadletters() == []

    assert sum(each.items for each in after.values()) >= CHANGES / 4, "news were counted"
    assert all(after[key].calls > before[key].calls for key in after)
    assert all(each.free for each in after.values()) or all(not each.free for each in after.values())
    assert sum(counts.values()) > sum(events_before.values())
    assert state.ticked_at > 0
    assert sum(cost for _, cost, _ in state.spent) > 0
