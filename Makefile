# `make` alone lists the targets. All that is needed beforehand is python3 (3.11 or newer) with venv.

PYTHON ?= python3
WORKERS ?= 2
ARGS ?=

VENV := .venv
READY := $(VENV)/.ready
RUN_PYTHON := $(VENV)/bin/python
PYTEST := $(RUN_PYTHON) -m pytest -q -n $(WORKERS) --dist worksteal
RUN := runs/connect_four

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup train test test-all test-external check bench clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | while IFS='|' read -r target text; do printf '%-22s %s\n' "$$target" "$$text"; done

setup: $(READY) ## make .venv and install beamzero into it (the targets below do so first)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "beamzero needs Python 3.11 or newer, and $(PYTHON) is not that: name another with make setup PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "$(PYTHON) has no venv: install it (Debian and Ubuntu: apt install python3-venv) and run make setup again" >&2; exit 1; }
	@$(RUN_PYTHON) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@echo "Installing beamzero and what it needs into $(VENV) (a minute or two)"
	@$(RUN_PYTHON) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

train: setup ## train a Connect Four agent on the CPU in a few minutes; goes on with a run that was stopped
	$(RUN_PYTHON) -m beamzero train connect_four --run $(RUN) $(if $(wildcard $(RUN)/run.json),--resume,--recipe connect_four_quick) $(ARGS)

test: setup ## run the tests; narrow them with ARGS="-k beam"
	$(PYTEST) -m "not external" $(ARGS)

test-all: test test-external ## run the tests, and those that need a browser or another engine

# pytest says 5 where it found no test to run.
test-external: setup
	@$(PYTEST) -m external $(ARGS) || { status=$$?; [ $$status -eq 5 ] || exit $$status; echo "No external tests to run."; }

check: setup ## lint, formatting and types
	$(RUN_PYTHON) -m ruff check
	$(RUN_PYTHON) -m ruff format --check
	$(RUN_PYTHON) -m mypy

bench: setup ## measure throughput
	$(RUN_PYTHON) -m beamzero bench $(ARGS)

clean: ## remove caches and build leftovers; .venv and runs stay
	rm -rf .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info
	find beamzero tests -name __pycache__ -type d -prune -exec rm -rf {} +
