# One environment in .venv, made from requirements.lock on first use; every target below finds or makes it.
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
PIP_QUIET := --quiet --disable-pip-version-check
PY := .venv/bin/python
READY := .venv/.ready
N ?= 3

.PHONY: help quick reproduce plan test lab bench connect4 oracles verify-records golden lock clean
help: ## Show this list.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'
	@echo "  Settings: BUDGET=15 (CPU minutes for training, or all), RECORDS=ignore, WORKERS=2, DASK=tcp://host:port, N=3,"
	@echo "            EDAX=/path/to/edax (the Othello program, with data/eval.dat beside it; see README)"

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "afterstate needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Name another one: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "$(PYTHON) has no venv or ensurepip. Install them (on Debian and Ubuntu: apt install python3-venv), or name another Python: make PYTHON=/path/to/python3 ..."; exit 1; }
	@echo "Setting up .venv from requirements.lock: one to three minutes, once ..."
	@$(PYTHON) -m venv .venv
	@$(PY) -m pip install $(PIP_QUIET) --require-hashes -r requirements.lock
	@$(PY) -m pip install $(PIP_QUIET) --no-build-isolation --no-deps -e .
	@touch $@

quick: $(READY) ## Everything from nothing at reduced scale (up to 10 minutes) -> reports/quick/index.html
	@$(PY) -m afterstate.commands.reproduce quick

reproduce: $(READY) ## All results of the papers: committed records, missing runs and a re-run sample -> reports/paper/index.html
	@$(PY) -m afterstate.commands.reproduce reproduce

plan: $(READY) ## What is recorded, what is missing, and the CPU time it would take.
	@$(PY) -m afterstate.commands.reproduce plan

test: $(READY) ## All tests, notebooks included (about 15 minutes).
	@$(PY) -m pytest --nbval-lax tests notebooks

lab: $(READY) ## Open the notebooks in JupyterLab.
	@$(PY) -m jupyter lab notebooks

bench: $(READY) ## Measure training speed, start-up and memory -> reports/paper/bench.md
	@$(PY) -m afterstate.commands.bench

connect4: $(READY) ## Install the perfect ConnectFour player (BitBully, licence AGPL-3; optional) with its opening books.
	@$(PY) -m pip install $(PIP_QUIET) -e '.[connect4]' --no-build-isolation

oracles: $(READY) ## Install independent rules of 2048 and Othello (pgx with jax, rust-reversi); only tests use them.
	@$(PY) -m pip install $(PIP_QUIET) -e '.[oracles]' --no-build-isolation

verify-records: $(READY) ## Train N=3 randomly chosen recorded runs again and compare them bit for bit.
	@$(PY) -m afterstate.commands.reproduce verify-records --n $(N)

golden: $(READY) ## Rewrite data/golden.json after a deliberate change of numbers (raise the version first).
	@$(PY) -m afterstate.commands.reproduce golden --write

lock: $(READY) ## Resolve pyproject.toml into requirements.lock anew (needs the tool uv: .venv/bin/pip install uv).
	@$(PY) -m uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --no-emit-index-url --python-version 3.11 \
		--extra test --extra build pyproject.toml -o requirements.lock

clean: ## Remove the environment, caches and quick reports (records and paper reports stay).
	@rm -rf .venv data/cache reports/quick .pytest_cache .hypothesis
