# `make` alone lists the targets. All that is needed beforehand is python3 (3.11 or newer) with venv.

PYTHON ?= python3
WORKERS ?= 2
ARGS ?=

VENV := .venv
RUN_PYTHON := $(VENV)/bin/python
PYTEST := $(RUN_PYTHON) -m pytest -q -n $(WORKERS) --dist worksteal
RUN := runs/connect_four

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup install setup-dev train test test-all engines check docs bench clean

# Tests start many processes; each would compile our Python again.
unexport PYTHONDONTWRITEBYTECODE

# Programs that `make test-all` talks to, and the Debian packages that hold them. Debian puts games where PATH does not look.
ENGINES := stockfish:stockfish fairy-stockfish:fairy-stockfish gtp-rhino:grhino chromium:chromium gnubg:gnubg
GAMES_PATH := $(PATH):/usr/games:/usr/local/games

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | while IFS='|' read -r target text; do printf '%-22s %s\n' "$$target" "$$text"; done

setup: install ## make .venv and install beamzero into it, to train and to play
	@echo "Ready. Try: $(VENV)/bin/beamzero play connect_four   or   $(VENV)/bin/beamzero serve   or   make train"

install:
	@sh tools/setup.sh $(PYTHON) $(VENV) web

setup-dev: ## the same with all that the tests need
	@sh tools/setup.sh $(PYTHON) $(VENV) dev

train: install ## train a Connect Four agent on the CPU in a few minutes; goes on with a run that was stopped
	$(RUN_PYTHON) -m beamzero train connect_four --run $(RUN) $(if $(wildcard $(RUN)/run.json),--resume,--recipe connect_four_quick) $(ARGS)

test: setup-dev ## run the tests that are cheap, in some minutes; narrow them with ARGS="-k beam"
	$(PYTEST) -m "not check and not slow and not external" $(ARGS)

# Where ARGS chooses tests, it may choose none of these: pytest says 5 then.
test-all: test engines ## run all tests: those above, and those that take long or need a browser or another engine
	@$(PYTEST) -m "slow or external" $(ARGS) || { status=$$?; $(if $(strip $(ARGS)),[ $$status -eq 5 ] ||) exit $$status; }

engines: setup-dev ## get the engines and the browser that test-all talks to (Debian and Ubuntu, as root)
	@missing=; for engine in $(ENGINES); do \
	  PATH="$(GAMES_PATH)" command -v $${engine%%:*} >/dev/null || missing="$$missing $${engine##*:}"; done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then \
	  echo "missing:$$missing. Install these (Debian and Ubuntu: apt install$$missing) and run make test-all again" >&2; exit 1; fi; \
	echo "Installing$$missing"; \
	{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; } >/dev/null || \
	  { echo "could not install$$missing: install them and run make test-all again" >&2; exit 1; }

check: setup-dev ## lint, formatting, types, and tests of the source tree itself: layers, names, links, packaging
	$(RUN_PYTHON) -m ruff check
	$(RUN_PYTHON) -m ruff format --check
	$(RUN_PYTHON) -m mypy
	$(RUN_PYTHON) -m mypy --strict --follow-imports=silent examples
	$(RUN_PYTHON) -m pytest -q -m check tests/checks

docs: ## build the documentation as a site into site/; open site/index.html
	@sh tools/setup.sh $(PYTHON) $(VENV) docs
	NO_MKDOCS_2_WARNING=1 $(RUN_PYTHON) -m mkdocs build --strict $(ARGS)

bench: setup-dev ## measure throughput
	$(RUN_PYTHON) -m beamzero bench $(ARGS)

clean: ## remove caches and build leftovers; .venv and runs stay
	rm -rf .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist site *.egg-info
	find beamzero tests -name __pycache__ -type d -prune -exec rm -rf {} +
