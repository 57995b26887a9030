"""Schemas of Kubernetes and of two operators, from the package registries, fetched once into this environment.

Kubernetes' own are in the Python package kubernetes-validate, those of KEDA and of the Prometheus operator in npm
packages that are generated from the operators' definitions.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.support.services.debian import Unavailable, alone, cache

VALIDATE: Final = "kubernetes-validate==1.37.0"
VERSIONS: Final = ("1.30", "1.32", "1.36")
"""The oldest that knows everything we use, the one that rehearsals run on, and a new one."""
OPERATORS: Final = {
    "keda.sh/v1alpha1": "@kubernetes-models/keda@2.0.0",
    "monitoring.coreos.com/v1": "@kubernetes-models/prometheus-operator@6.0.0",
}
_SHARED: Final = ("kubernetes-models/autoscaling/v2", "@kubernetes-models/apimachinery/apis/meta/v1")
"""Where operators borrow types from."""
_FREE: Final = frozenset({"matchLabels", "labels", "annotations", "metadata"})
"""Where keys are anybody's."""

_PYTHON: Final = """
import json, sys, kubernetes_validate
for thing in json.load(sys.stdin):
    for version in sys.argv[1:]:
        name = f"{thing['kind']} {thing['metadata']['name']} ({version}): "
        try:
            kubernetes_validate.validate(thing, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            print(name + error.message)
        except kubernetes_validate.SchemaNotFoundError as error:
            print(name + str(error))
"""
_NODE: Final = """
import fs from 'fs';
for (const thing of JSON.parse(fs.readFileSync(0))) {
  const models = await import(`${process.argv[2].replace(/@[^@]*$/, '')}/${thing.apiVersion}`);
  const model = models[thing.kind];
  if (!model) { console.log(`${thing.kind}: there is no such kind`); continue; }
  try { new model(thing).validate(); } catch (e) { console.log(`${thing.kind} ${thing.metadata.name}: ${e.message}`); }
}
"""


def faults(things: Sequence[Mapping[str, Any]]) -> list[str]:
    """What is wrong with these objects. Unknown fields are. Raises Unavailable."""
    own = [thing for thing in things if thing["apiVersion"] not in OPERATORS]
    found = _run([sys.executable, "-c", _PYTHON, *VERSIONS], own, PYTHONPATH=str(_python_package()))
    for version, package in OPERATORS.items():
        theirs = [thing for thing in things if thing["apiVersion"] == version]
        if theirs:
            folder = _npm_package(package)
            (folder / "faults.mjs").write_text(_NODE)
            found += _run(["node", "faults.mjs", package], theirs, cwd=folder)
            found += [fault for thing in theirs for fault in _unknown(thing, folder, package)]
    return found


def _unknown(thing: Mapping[str, Any], folder: Path, package: str) -> Iterator[str]:
    """Keys that occur in no type of the package: its validators let unknown fields pass."""
    modules = folder / "node_modules"
    types = (modules / package.rpartition("@")[0] / thing["apiVersion"], *(modules / place for place in _SHARED))
    texts = [file.read_text() for place in types for file in place.glob("*.d.ts")]
    names = {name for text in texts for name in re.findall(r'"?(\w+)"?\??:', text)}
    for key in _keys(thing["spec"]):
        if key not in names:
            yield f"{thing['kind']} {thing['metadata']['name']}: no field is called {key}"


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield key
            if key not in _FREE:
                yield from _keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _keys(inner)


def _run(command: Sequence[str], things: Sequence[Any], cwd: Path | None = None, **environment: str) -> list[str]:
    done = subprocess.run(
        command,
        input=json.dumps(things),
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def _python_package() -> Path:
    folder = cache() / VALIDATE.replace("==", "-")
    options = ["install", "--quiet", "--disable-pip-version-check", "--target", str(folder), VALIDATE]
    return _fetched(folder, [sys.executable, "-m", "pip", *options])


def _npm_package(package: str) -> Path:
    if shutil.which("npm") is None:
        raise Unavailable("npm is not installed (Debian: apt-get install npm)")
    folder = cache() / re.sub(r"\W+", "-", package).strip("-")
    return _fetched(folder, ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), package])


def _fetched(folder: Path, command: Sequence[str]) -> Path:
    """`folder`, complete."""
    with alone(folder.with_suffix(".lock")):
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise Unavailable(f"{' '.join(command)} failed: {done.stderr[-1000:]}")
            (folder / "complete").touch()
    return folder
