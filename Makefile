# One target for each thing a person does. Everything sets itself up in .venv.
.DEFAULT_GOAL := help
.PHONY: help demo test unit faults lint docs bench peers lock clean image compose servers rehearsal

unexport PYTHONDONTWRITEBYTECODE # tests start a thousand processes, and each would compile everything anew

PYTHON ?= $(firstword $(foreach name,python3.13 python3.12 python3.11 python3,$(shell $(name) -c \
	'import sys, venv, ensurepip; sys.version_info >= (3, 11) and print(sys.executable)' 2>/dev/null)))
VENV := .venv
RUN := $(VENV)/bin/python
UNIT := $(RUN) -m pytest tests/unit tests/contracts -n 2 -p no:schemathesis -p no:anyio # plugins take a second to start
INSTALL := $(RUN) -m pip install -q --disable-pip-version-check
LOCKED := --no-deps --require-hashes # locks are complete, and older pips trip over extras
VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' ghcrawl/__init__.py)
BUILD ?= docker build
BASE ?= docker.io/library/python:3.13.15-slim-trixie@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b
COMPOSE ?= docker compose
COMPILE := $(VENV)/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-strip-extras --no-header --no-annotate

help: ## show this
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-9s %s\n", $$1, $$2}'

demo: $(VENV)/.runtime ## crawl a simulated GitHub: no server, no token
	@$(VENV)/bin/ghcrawl demo

test: $(VENV)/.dev ## every test
	$(UNIT)
	$(RUN) -m pytest tests/integration tests/e2e -n 2 --dist loadscope -m "not faults" -o faulthandler_timeout=900
	$(RUN) -m pytest tests/faults -m "not faults"

unit: $(VENV)/.dev ## the fast tests only, in seconds
	$(UNIT) -m "not slow"

BROKEN := tests/integration/amqp/test_bad_days.py tests/faults/test_burial.py
faults: $(VENV)/.dev ## every fault there is, on real servers: three quarters of an hour
	$(RUN) -m pytest tests/faults tests/integration/deploy/test_rehearsal.py
	GHCRAWL_TEST_AMQP=4.0 $(RUN) -m pytest $(BROKEN) tests/faults/test_broker.py
	GHCRAWL_TEST_AMQP=cluster $(RUN) -m pytest $(BROKEN)
	GHCRAWL_TEST_LIVE_S=300 $(RUN) -m pytest -s --show-capture=no tests/integration/service/test_live_webhooks.py

lint: $(VENV)/.dev ## format, lint, types and import contracts
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

docs: $(VENV)/.dev ## write what the documentation takes from the code: kinds, documents, tables, settings
	$(RUN) -m processors.github.kinds_page > docs/github.md
	$(RUN) -m tests.support.document_types > docs/documents.md
	$(RUN) -m tests.support.tables_page > docs/tables.md
	$(RUN) -m tests.support.readme

bench: $(VENV)/.dev ## the benchmarks, as ratios
	@$(RUN) -m benchmarks $(filter-out bench,$(MAKECMDGOALS))

peers: bench ## ghcrawl beside the tools that people use today: ten minutes
	@:

image: ## the container image, by docker or by what BUILD says
	$(BUILD) --build-arg PYTHON=$(BASE) --build-arg VERSION=$(VERSION) --build-arg COMMIT=$(shell git rev-parse HEAD) --tag ghcrawl:$(VERSION) .

compose: ## all of it on this machine, with RabbitMQ, MongoDB, Prometheus and Grafana
	@PYTHON=$(BASE) COMMIT=$(shell git rev-parse HEAD) $(COMPOSE) --file config/compose.yaml up --build --detach --wait

servers: ## RabbitMQ 4 and MongoDB 8 for the tests, in containers
	@GHCRAWL_ADMIN_TOKEN=unused $(COMPOSE) --file config/compose.yaml up --detach --wait rabbitmq mongodb
	@echo "export GHCRAWL_TEST_AMQP_URL=amqp://ghcrawl:ghcrawl@127.0.0.1:5672/%2F"
	@echo "export GHCRAWL_TEST_AMQP_MANAGEMENT_URL=http://ghcrawl:ghcrawl@127.0.0.1:15672"
	@echo "export GHCRAWL_TEST_MONGO_URL=mongodb://127.0.0.1:27017"

rehearsal: $(VENV)/.dev ## what a deployment meets in a year, in the Kubernetes that kubectl points to
	$(RUN) -m tests.rehearsal

lock: $(VENV)/.dev ## write the lock files anew
	$(COMPILE) pyproject.toml --extra web -o requirements.txt
	$(COMPILE) --group build -c requirements.txt -o requirements-build.txt
	$(COMPILE) pyproject.toml --group dev -c requirements.txt -c requirements-build.txt -o requirements-dev.txt

clean: ## forget everything that was set up
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis dist

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "ghcrawl needs Python 3.11 or newer with venv (Debian: apt-get install python3-venv)"; exit 1; }
	@echo "Setting up $(VENV) with $(PYTHON) ..."
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements.txt requirements-build.txt pyproject.toml | $(VENV)/bin/python
	@echo "Installing ghcrawl in it ..."
	@$(INSTALL) $(LOCKED) -r requirements.txt -r requirements-build.txt
	@$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.runtime
	@echo "Installing what the tests need ..."
	@$(INSTALL) $(LOCKED) -r requirements-dev.txt
	@touch $@
