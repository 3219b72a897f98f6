# Everything runs from .venv inside this checkout; the first target you call builds it.
#   make test PYTHON=/path/to/python3     uses another interpreter (3.11 or newer)
#   make test PYTEST_ARGS="-n 2 -k lease" hands arguments to one pytest

.DEFAULT_GOAL := help
SHELL := /bin/bash

VENV := .venv
BIN := $(VENV)/bin
SRC := domain application adapters entrypoints src tests
USABLE := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in $(BIN)/python python3 python3.14 python3.13 python3.12 python3.11 /usr/bin/python3; do \
	"$$p" -c '$(USABLE)' >/dev/null 2>&1 && { echo "$$p"; break; }; done)
VERSION := $(shell "$(PYTHON)" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
# A virtual environment belongs to one interpreter version and one folder: both are in the stamp's name.
STAMP := $(VENV)/.installed-$(VERSION)-$(shell printf '%s' '$(CURDIR)' | cksum | cut -d' ' -f1)

TEST = $(BIN)/python -m pytest -q
PYTEST_ARGS ?=
PIP := env TMPDIR="$(CURDIR)/.cache/tmp" PIP_CACHE_DIR="$(CURDIR)/.cache/pip" PIP_DISABLE_PIP_VERSION_CHECK=1 \
	PYTHONWARNINGS=ignore $(BIN)/python -m pip
LOCK_WITH = .cache/lock/bin/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-annotate --no-header --no-config --quiet --upgrade

# The peers that benchmarks compare with: a virtual environment and Node packages of their own.
PEERS := benchmarks/peers
PEERS_HOME := .cache/peers
PEERS_BIN := $(PEERS_HOME)/venv/bin
PEERS_USABLE := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 12))
PEERS_PYTHON ?= $(shell for p in python3.13 python3.14 python3.12 python3 /usr/bin/python3 \
	"$$HOME"/.pyenv/versions/3.1{3,4,2}*/bin/python3; do \
	"$$p" -c '$(PEERS_USABLE)' >/dev/null 2>&1 && { echo "$$p"; break; }; done)
PEERS_PIP = $(subst $(BIN)/python,$(PEERS_BIN)/python,$(PIP))
PEERS_STAMP := $(PEERS_HOME)/.installed-$(shell printf '%s' '$(CURDIR)' | cksum | cut -d' ' -f1)
PEERS_LOCK_WITH = $(subst --python-version 3.11,--python-version 3.12,$(LOCK_WITH)) $(PEERS)/requirements.in
RUNS ?= 5
PARTS ?= speed,steady,crash
SYSTEMS ?=

.PHONY: help install demo test test-long chaos bench bench-peers bench-peers-install bench-peers-table
.PHONY: lint format lock clean

help: $(STAMP) ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

install: $(STAMP) ## build .venv with every dependency pinned by hash

$(STAMP): requirements-dev.lock pyproject.toml
	@test -n "$(VERSION)" || { echo "No usable Python found; set PYTHON to one of 3.11 or newer with venv." >&2; exit 1; }
	@mkdir -p .cache/tmp
	@test -e "$@" || { echo "Building $(VENV) with Python $(VERSION)"; "$(PYTHON)" -m venv --clear $(VENV); }
	@$(PIP) install --quiet --require-hashes -r requirements-dev.lock
	@$(PIP) install --quiet --no-deps --no-build-isolation --no-index --editable .
	@touch "$@"

demo: $(STAMP) ## watch jobs, crashes and recovery on an embedded PostgreSQL
	@$(BIN)/fencepost demo

# Chaos stops and kills what it measures, and some tests measure what any open transaction on a shared server disturbs:
# they run alone. All else runs on two cores, each file on one of them.
ALONE := tests/chaos tests/integration/postgres/test_leasing.py tests/integration/postgres/test_plans.py
test: $(STAMP) ## the whole test suite but for the long tier
ifeq ($(strip $(PYTEST_ARGS)),)
	$(TEST) $(ALONE); alone=$$?; $(TEST) -n 2 --dist loadfile $(addprefix --ignore=,$(ALONE)) && exit $$alone
else
	$(TEST) $(PYTEST_ARGS)
endif

test-long: $(STAMP) ## everything, the long tier included
	$(TEST) -m "long or not long" $(PYTEST_ARGS)

chaos: $(STAMP) ## kill, stop and cut off real processes while the checker watches
	@ls tests/chaos/test_*.py >/dev/null 2>&1 || { echo "There are no chaos tests in tests/chaos yet." >&2; exit 1; }
	$(TEST) -m "long or not long" tests/chaos $(PYTEST_ARGS)

bench: $(STAMP) ## measure what the speed claims rest on
	@test -e benchmarks/__main__.py || { echo "There is no benchmarks/__main__.py yet." >&2; exit 1; }
	$(BIN)/python benchmarks

bench-peers: bench-peers-install ## run job queues of others beside ours: RUNS=5 PARTS=speed,steady,crash SYSTEMS=…
	$(PEERS_BIN)/python $(PEERS)/campaign.py --runs $(RUNS) --parts $(PARTS) $(if $(SYSTEMS),--systems $(SYSTEMS))

bench-peers-install: $(PEERS_STAMP) ## build the environment of the peers

bench-peers-table: $(PEERS_STAMP) ## write what the peers came to into benchmarks/peers/RESULTS.md
	@$(PEERS_BIN)/python $(PEERS)/report.py >$(PEERS_HOME)/tables.md
	@{ printf '# Job queues side by side\n\n'; cat $(PEERS_HOME)/tables.md; } >$(PEERS)/RESULTS.md

$(PEERS_STAMP): $(PEERS)/requirements.lock $(PEERS)/js/package-lock.json pyproject.toml
	@test -n "$(PEERS_PYTHON)" || { echo "The peers need Python 3.12 or newer; set PEERS_PYTHON." >&2; exit 1; }
	@mkdir -p .cache/tmp $(PEERS_HOME)/node
	@"$(PEERS_PYTHON)" -m venv --clear $(PEERS_HOME)/venv
	@$(PEERS_PIP) install --quiet --require-hashes -r $(PEERS)/requirements.lock
	@$(PEERS_PIP) install --quiet --no-deps --no-build-isolation --no-index --editable .
	@cp $(PEERS)/js/package.json $(PEERS)/js/package-lock.json $(PEERS_HOME)/node/
	@if command -v npm >/dev/null; then \
		cd $(PEERS_HOME)/node && npm ci --silent --no-audit --no-fund --cache "$(CURDIR)/.cache/npm"; \
	else echo "There is no npm: graphile and pgboss are left out (Node 20 or newer brings it)." >&2; fi
	@touch "$@"

lint: $(STAMP) ## style, types and the direction of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(STAMP) ## let ruff put the code in order
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

lock: $(STAMP) ## renew the lock files
	@test -x .cache/lock/bin/uv || { $(BIN)/python -m venv .cache/lock && .cache/lock/bin/python -m pip install --quiet uv; }
	$(LOCK_WITH) --output-file requirements.lock
	$(LOCK_WITH) --group dev --output-file requirements-dev.lock
	$(PEERS_LOCK_WITH) --constraints requirements.lock --output-file $(PEERS)/requirements.lock

clean: $(STAMP) ## remove what the tools leave behind (.venv stays)
	@rm -rf .cache .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist htmlcov
	@find $(SRC) -name __pycache__ -type d -prune -exec rm -rf {} +
