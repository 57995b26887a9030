"""The wheel, installed in an empty environment far from the repository, is the whole program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("ghcrawl", "queues", "stores", "processors")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    _run(sys.executable, "-m", "pip", "wheel", *options, str(ROOT))
    (built,) = folder.glob("ghcrawl-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `ghcrawl` command of an environment that holds the locked dependencies and the wheel, and nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    install = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    _run(*install, "--no-deps", "--require-hashes", "--requirement", str(ROOT / "requirements.txt"))
    _run(*install, "--no-deps", str(wheel))
    return folder / "bin" / "ghcrawl"


def _run(*command: str, cwd: Path | None = None) -> str:
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environment |= {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_wheel_holds_all_four_packages_typed_and_nothing_else(wheel: Path):
    names = zipfile.ZipFile(wheel).namelist()

    assert {name.partition("/")[0] for name in names if ".dist-info" not in name} == set(PACKAGES)
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)


def test_an_installed_wheel_serves_every_file_of_the_console(installed: Path, tmp_path: Path):
    folder = ROOT / "ghcrawl" / "admin" / "console"
    written = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())

    code = "import json, ghcrawl.admin.console as it; print(json.dumps([str(it.FILES), sorted(it.files())]))"
    place, served = json.loads(_run(str(installed.parent / "python"), "-c", code, cwd=tmp_path))

    assert served == written
    assert Path(place).is_relative_to(installed.parents[1])


def test_no_other_distribution_brings_packages_of_the_same_names(installed: Path):
    code = "from importlib.metadata import packages_distributions as d; import json; print(json.dumps(d()))"
    owners = json.loads(_run(str(installed.parent / "python"), "-c", code))

    assert {package: owners[package] for package in PACKAGES} == {package: ["ghcrawl"] for package in PACKAGES}


def test_it_runs_a_small_crawl_far_from_the_repository(installed: Path, tmp_path: Path):
    assert _run(str(installed), "--version", cwd=tmp_path).startswith("ghcrawl ")

    _run(str(installed), "demo", "--size", "100", "--db", "demo.db", cwd=tmp_path)
    exported = _run(str(installed), "documents", "export", "--db", "demo.db", cwd=tmp_path)

    assert len(exported.splitlines()) > 100
