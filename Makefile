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
.PHONY: help setup train test test-all test-external engines check bench clean

# Programs that the external tests talk to, and the Debian packages that hold them. Debian puts games where PATH does not look.
ENGINES := stockfish:stockfish fairy-stockfish:fairy-stockfish gtp-rhino:grhino chromium:chromium gnubg:gnubg
GAMES_PATH := $(PATH):/usr/games:/usr/local/games

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
test-external: setup engines
	@$(PYTEST) -m external $(ARGS) || { status=$$?; [ $$status -eq 5 ] || exit $$status; echo "No external tests to run."; }

engines: ## get the engines and the browser that the external tests talk to (Debian and Ubuntu, as root)
	@missing=; for engine in $(ENGINES); do \
	  PATH="$(GAMES_PATH)" command -v $${engine%%:*} >/dev/null || missing="$$missing $${engine##*:}"; done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then \
	  echo "missing:$$missing. Install these (Debian and Ubuntu: apt install$$missing) and run make test-all again" >&2; exit 1; fi; \
	echo "Installing$$missing"; \
	{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; } >/dev/null || \
	  { echo "could not install$$missing: install them and run make test-all again" >&2; exit 1; }

check: setup ## lint, formatting and types
	$(RUN_PYTHON) -m ruff check
	$(RUN_PYTHON) -m ruff format --check
	$(RUN_PYTHON) -m mypy

bench: setup ## measure throughput
	$(RUN_PYTHON) -m beamzero bench $(ARGS)

clean: ## remove caches and build leftovers; .venv and runs stay
	rm -rf .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info
	find beamzero tests -name __pycache__ -type d -prune -exec rm -rf {} +
