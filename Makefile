# One target for each thing a person does. Everything sets itself up in .venv; nothing outside this folder is touched.
.DEFAULT_GOAL := help
.PHONY: help demo test unit lint bench lock clean

PYTHON ?= $(firstword $(foreach name,python3.13 python3.12 python3.11 python3,$(shell $(name) -c \
	'import sys, venv, ensurepip; sys.version_info >= (3, 11) and print(sys.executable)' 2>/dev/null)))
VENV := .venv
RUN := $(VENV)/bin/python

help: ## show this
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-7s %s\n", $$1, $$2}'

demo: $(VENV)/.runtime ## crawl a simulated GitHub: no server, no token
	@PYTHONPATH=. $(RUN) -m ghcrawl demo

test: $(VENV)/.dev ## every test
	$(RUN) -m pytest

unit: $(VENV)/.dev ## the fast tests only, in seconds
	$(RUN) -m pytest tests/unit tests/contracts -m "not slow"

lint: $(VENV)/.dev ## format, lint, types and import contracts
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

bench: $(VENV)/.dev ## the benchmarks, as ratios
	$(RUN) -m benchmarks

lock: $(VENV)/.dev ## write both lock files anew
	$(VENV)/bin/uv pip compile --universal --python-version 3.11 --generate-hashes --no-strip-extras --no-header --no-annotate -q \
		pyproject.toml -o requirements.txt
	$(VENV)/bin/uv pip compile --universal --python-version 3.11 --generate-hashes --no-strip-extras --no-header --no-annotate -q \
		pyproject.toml --group dev -c requirements.txt -o requirements-dev.txt

clean: ## forget everything that was set up
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis dist

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "ghcrawl needs Python 3.11 or newer with venv (Debian: apt-get install python3-venv)"; exit 1; }
	@echo "Setting up $(VENV) with $(PYTHON) ..."
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements.txt | $(VENV)/bin/python
	@$(RUN) -m pip install -q --disable-pip-version-check --require-hashes -r requirements.txt
	@touch $@

$(VENV)/.dev: requirements-dev.txt pyproject.toml | $(VENV)/bin/python
	@echo "Installing what the tests need ..."
	@$(RUN) -m pip install -q --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@$(RUN) -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/.runtime
