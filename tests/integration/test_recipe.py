"""The recipe in CONTRIBUTING.md, done in a copy of the tree: the new kind is crawled there, and no other test fails."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[2]
COPIED = ("ghcrawl", "processors", "queues", "stores", "tests", "docs", "config")
FILES = ("pyproject.toml", "CONTRIBUTING.md", "README.md", "Makefile")
STEP = re.compile(r"in `([\w/.]+\.py)`.*?```python\n(.*?)```", re.DOTALL)
COMMAND = re.compile(r"`(make \w+)`")
IMPORT = "from processors.github.listing import Listing\n"
CRAWL = """
import asyncio
from ghcrawl.platforms.github import platform
from tests.support.builders import a_request
from tests.support.github import REPO, a_repo
from tests.support.scripted import Rig, a_body

LISTS = {"autolinks": [{"id": 5, "key_prefix": "A-"}, {"id": 6, "key_prefix": "B-"}]}


class Answers(dict):
    def __missing__(self, url):
        name = url.partition("?")[0].rpartition("/")[2]
        return a_body(LISTS.get(name, []), url)


async def crawl():
    rig = Rig(platform(), {})
    rig.fetcher.answers = Answers({REPO: a_body(a_repo(), REPO)})
    await rig.push(a_request(platform="github", type="repo", url=REPO, policy="default"))
    await rig.drain()
    print(sorted([d.urn async for d in rig.store.list(FILTER)]))


from ghcrawl.ports.store import DocumentFilter
from ghcrawl.values.type_names import TypeName
FILTER = DocumentFilter(types=(TypeName("github", "autolink"),))
asyncio.run(crawl())
"""
TESTS = ("tests/unit/processors", "tests/unit/platforms", "tests/unit/tables", "tests/unit/settings")


def run(tree: Path, *words: str) -> str:
    done = subprocess.run(  # our own Python, in a copy of this tree
        words,
        cwd=tree,
        env=os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree in which the recipe was followed."""
    copy = tmp_path_factory.mktemp("recipe") / "tree"
    copy.mkdir()
    for name in COPIED:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy2(ROOT / name, copy / name)
    manual = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    recipe = manual.partition("## Add a kind of thing\n")[2].partition("\n## ")[0]
    (rows, code), (test, own) = STEP.findall(recipe)
    place = copy / rows
    known = re.compile(r"^ENTITIES: Final = .*?\)\n", re.DOTALL | re.MULTILINE)
    edited = known.sub(lambda _: dedent(code), place.read_text())
    first = edited.index("from processors.")
    place.write_text(edited if IMPORT in edited else edited[:first] + IMPORT + edited[first:])
    (copy / test).write_text(dedent(own))
    for command in COMMAND.findall(recipe):
        run(copy, *command.split(), "--assume-old=.venv/.dev", f"RUN={sys.executable}")
    return copy


@pytest.mark.slow
def test_a_crawl_of_a_repository_saves_the_new_kind(tree: Path) -> None:
    assert run(tree, sys.executable, "-c", CRAWL) == "['urn:repo:12:autolink:5', 'urn:repo:12:autolink:6']\n"


@pytest.mark.slow
def test_its_test_passes_and_no_inventory_of_kinds_needs_an_edit(tree: Path) -> None:
    plain = ("-q", "-m", "not slow", "-p", "no:schemathesis", "-p", "no:anyio")
    run(tree, sys.executable, "-m", "pytest", *TESTS, *plain)
