# make run  - install what is missing, start Headscope, open the atlas     (Python 3.11+, nothing else)
# make test - everything the CI runs: check, front-end tests, Python tests, a real Postgres and browser
# `make help` lists the rest. PYTHON=python3.12 picks an interpreter.

PYTHON ?= python3
BIN := .venv/bin
NPM := $(BIN)/npm --prefix frontend
FRONTEND := $(shell find frontend hatch_build.py -path '*/node_modules' -prune -o -type f -print 2>/dev/null)
SOURCES := pyproject.toml constraints.txt $(FRONTEND)
# Tests of processes, timing and the browser have the machine to themselves; of the others each core runs a file.
ALONE := tests/jobs tests/worker tests/e2e
SIDE_BY_SIDE := -n logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder
export WANDB_MODE = disabled

.PHONY: run test check format client reference families bench gallery validate figures clean help

run: .venv/installed ## install what is missing, fetch SmolLM2-135M-Instruct, 4-bit, once (93 MB), start Headscope, open the atlas
	@$(BIN)/headscope models fetch smollm2-135m || echo "Going on without SmolLM2-135M: its shipped results still show."
	@$(BIN)/headscope serve --open

test: .venv/installed-dev check ## check, front-end tests, Python tests on SQLite and Postgres, real Chromium
	@PYTHONPATH=tests $(BIN)/python -m services.chromium
	$(NPM) test
	OMP_NUM_THREADS=1 $(BIN)/pytest $(SIDE_BY_SIDE) $(ALONE:%=--ignore=%)
	$(BIN)/pytest $(ALONE)

check: .venv/installed-dev ## lint, types, layers, generated types in step, docs complete
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	@$(BIN)/python -m headscope.web.openapi | diff -q - frontend/openapi.json >/dev/null || { echo 'frontend/openapi.json is out of step with the API: make client'; exit 1; }
	@$(BIN)/python -m headscope.python.reference | diff -q - docs/reference.md >/dev/null || { echo 'docs/reference.md is out of step with the docstrings: make reference'; exit 1; }
	$(NPM) run --silent types:check
	$(NPM) run --silent lint
	$(BIN)/python tests/house/docs.py

format: .venv/installed-dev ## let ruff and biome put the code in order
	$(BIN)/ruff check --fix && $(BIN)/ruff format && $(NPM) run format

client: .venv/installed-dev ## write frontend/openapi.json and the TypeScript types from the API
	$(BIN)/python -m headscope.web.openapi > frontend/openapi.json && $(NPM) run types

reference: .venv/installed-dev ## write docs/reference.md, the Python reference, from the docstrings
	$(BIN)/python -m headscope.python.reference > docs/reference.md

families: .venv/installed-dev ## write docs/models.md from the proofs of tiny models of each family
	PYTHONPATH=tests $(BIN)/python -m models.families_page

bench: .venv/installed-dev ## the measured promises: import and start time, quick runs, figure sizes
	$(BIN)/pytest tests/bench -s -m bench

gallery: .venv/installed ## the longer fits of a real model, hours: LIST=1 lists them, ONLY="NAME NAME" takes some; goes on where it stopped
	$(BIN)/headscope atlas build --long $(if $(LIST),--list) $(ONLY:%=--only %)

VALIDATION := backend/headscope/validation/results

validate: .venv/installed ## fit models whose heads are known, 20 draws a cell: what the page Validation shows (an hour)
	-$(BIN)/headscope validate chg --summary $(VALIDATION)/planted.json
	-$(BIN)/headscope validate chg --as-printed --summary $(VALIDATION)/planted-as-printed.json
	-$(BIN)/headscope validate programs --summary $(VALIDATION)/programs.json

figures: .venv/installed-dev ## redraw what snapshot tests compare with
	PYTHONPATH=tests $(BIN)/python tests/figures/snapshots.py && PYTHONPATH=tests $(BIN)/python tests/gallery/fingerprints.py && git diff --stat tests/golden

.venv/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit("Headscope needs Python 3.11 or later: make run PYTHON=python3.11" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/pip $(SOURCES)
	@echo "Installing Headscope into .venv (PyTorch and the front end are built in; a few minutes the first time)"
	$(BIN)/pip install -q -c constraints.txt -e .
	@touch $@

.venv/installed-dev: .venv/bin/pip $(SOURCES)
	$(BIN)/pip install -q -c constraints.txt -e '.[dev]'
	@# npm ci empties node_modules first: only where the packages themselves have changed.
	@[ frontend/node_modules/.package-lock.json -nt frontend/package-lock.json ] || $(NPM) ci --silent --no-audit --no-fund
	@touch .venv/installed $@

clean: ## remove everything that make made
	rm -rf .venv build dist frontend/node_modules backend/headscope/web/static

help:
	@sed -n 's/^\([a-z]*\):.*## /make \1\t/p' $(MAKEFILE_LIST)
