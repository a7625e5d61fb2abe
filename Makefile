# One environment in .venv, made from the lock files on first use; every target below finds or makes it.
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
PIP_QUIET := --quiet --disable-pip-version-check
PY := .venv/bin/python
# the packages' byte code is kept in .venv, or every process compiles them anew for ten seconds
unexport PYTHONDONTWRITEBYTECODE
READY := .venv/.ready
REPEATS ?= 13
ENGINES ?= yes
INSTALL_ENGINES = $(PY) -m pip install $(PIP_QUIET) --require-hashes --no-deps -r requirements-engines.lock \
	|| echo "The perfect ConnectFour player could not be installed (see above): its tests are skipped, notebook 12 shows gaps. Again: make engines"
# one notebook stays in one process, of this environment whatever JUPYTER_PATH says; a file of tests keeps what it has compiled;
# tests/conftest.py says which files come first
SIDE_BY_SIDE := --numprocesses=auto --dist=loadfile --no-loadscope-reorder
PYTEST := $(PY) -m pytest --nbval-lax --nbval-current-env $(SIDE_BY_SIDE)
# in a clone: a notebook that was run and saved shows no difference but one's own edits
FILTER := git config filter.afterply
SAVED := --FileContentsManager.post_save_hook=afterply.commands.strip.saved

.PHONY: help setup quick reproduce join evaluate plan again test test-hidden check lab site docs bench engines oracles golden nightly lock clean
help: ## Show this list.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'
	@echo "  Settings, given as make reproduce BUDGET=60 or in the environment; no number depends on them:"
	@echo "    BUDGET=0             CPU minutes for missing runs, or all (until nothing is missing)"
	@echo "    REPEATS=13           recorded runs that are made again and compared bit for bit"
	@echo "    ROWS='rules ...'     rows that make evaluate executes (default: all)"
	@echo "    RECORDS=ignore       make every recorded run again and compare it"
	@echo "    SHARE=3/100          make only the third of 100 shares of what is missing: for a job array"
	@echo "    WORKERS=2            processes that train side by side (default: all CPUs)"
	@echo "    DASK=tcp://host:port a Dask scheduler whose workers (dask worker --nthreads 1 tcp://...) train instead"
	@echo "    EDAX=/path/to/edax   the Othello program (github.com/abulmo/edax-reversi), data/eval.dat beside it"
	@echo "    ENGINES=no           set up without the perfect ConnectFour player BitBully (licence AGPL-3)"
	@echo "    AFTERPLY_DATA, AFTERPLY_REPORTS, AFTERPLY_CACHE   other directories for data, reports, compiled kernels"
	@echo "    AFTERPLY_HIDE=all  treat optional engines as missing, or some: bitbully,gtp-rhino,edax"

$(READY): requirements.lock requirements-engines.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "afterply needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Name another one: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "$(PYTHON) has no venv or ensurepip. Install them (on Debian and Ubuntu: apt install python3-venv), or name another Python: make PYTHON=/path/to/python3 ..."; exit 1; }
	@echo "Setting up .venv from requirements.lock: one to three minutes, once ..."
	@$(PYTHON) -m venv .venv
	@$(PY) -m pip install $(PIP_QUIET) --no-compile --require-hashes -r requirements.lock
	@$(PY) -m pip install $(PIP_QUIET) --no-build-isolation --no-deps -e .
	@if [ "$(ENGINES)" != no ]; then $(INSTALL_ENGINES); fi
	@if [ -e .git ]; then $(FILTER).clean '$(PY) lib/afterply/commands/strip.py %f' 2>/dev/null || true; fi
	@touch $@

setup: $(READY) ## Set up .venv and do nothing else; every other target does it when it is the first.

quick: $(READY) ## Everything from nothing at reduced scale (about 5 minutes) -> reports/quick/index.html
	@$(PY) -m afterply.commands.reproduce quick

reproduce: $(READY) ## All results of the papers from the committed records, a sample of them trained again -> reports/paper/index.html
	@$(PY) -m afterply.commands.reproduce reproduce --repeats $(REPEATS)

evaluate: $(READY) ## The artifact appendix, executed: claims, commands, what must come out (about 15 minutes) -> reports/evaluate/evaluation.md
	@$(PY) -m afterply.commands.reproduce evaluate $(ROWS)

join: $(READY) ## Add the records that other machines have made: FROM="folder ...", each with files NAME.jsonl.
	@$(PY) -m afterply.commands.reproduce join $(FROM)

plan: $(READY) ## What is recorded, what is missing, and the CPU time it would take.
	@$(PY) -m afterply.commands.reproduce plan

again: $(READY) ## Question a verdict: train RUN=connect4/FARL/3, or all of ARM=connect4/FARL, again and compare; SWITCH="alpha=0.5": a variant.
	@$(PY) -m afterply.commands.reproduce again "$${RUN:-$$ARM}" --switch "$$SWITCH" --runs "$$RUNS"

check: $(READY) ## For the inner loop: lint, types, layers, and all tests without long runs and engines (some four minutes).
	@$(PY) -m ruff check
	@$(PY) -m ruff format --check
	@$(PY) -m mypy
	@$(PY) -m pytest -p no:nbval $(SIDE_BY_SIDE) -m "not slow and not engine" tests

test: $(READY) ## All tests, notebooks included, on all cores (15 to 35 minutes).
	@$(PYTEST) tests notebooks

test-hidden: $(READY) ## Tests and notebooks that touch optional engines, as on a machine that has none of them.
	@AFTERPLY_HIDE=all $(PYTEST) -m engine tests notebooks

lab: $(READY) ## Open the notebooks in JupyterLab.
	@JUPYTER_PATH="$(CURDIR)/.venv/share/jupyter$${JUPYTER_PATH:+:$$JUPYTER_PATH}" $(PY) -m jupyter lab notebooks $(SAVED) $(LAB)

docs: $(READY) ## How-tos, reference, notebooks and report as one site with a search (a minute) -> reports/site/index.html
	@$(PY) -m afterply.commands.cli docs

site: $(READY) ## The same with a page for each published agent, on which it is played (brings a linker for WebAssembly).
	@$(PY) -m pip install $(PIP_QUIET) -e '.[web]' --no-build-isolation
	@$(PY) -m afterply.commands.cli docs

bench: $(READY) ## Measure speeds beside those of rivals, start-up and memory -> reports/paper/bench.md
	@PYTHONPATH=tests $(PY) -m benchmarks.run

engines: $(READY) ## Install the perfect ConnectFour player BitBully with its books (licence AGPL-3; part of the set-up unless ENGINES=no).
	@$(INSTALL_ENGINES)

oracles: $(READY) ## Install independent rules of 2048 and Othello (pgx with jax, rust-reversi) and the linker of pages; only tests need them.
	@$(PY) -m pip install $(PIP_QUIET) -e '.[oracles,web]' --no-build-isolation

nightly: $(READY) ## Compare 10^7 games with rules in C, kill processes, damage files, make bad calls; goes on where it stopped (SEED=, GAMES=, KILLS=, FILES=, PARTS='rules kills files calls').
	@$(PY) tests/nightly/run.py $(PARTS)

golden: $(READY) ## Rewrite golden runs and playthroughs after a deliberate change of numbers (raise the version first).
	@$(PY) -m afterply.commands.reproduce golden --write

UV := $(PY) -m uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links --python-version 3.11
lock: $(READY) ## Resolve pyproject.toml into the lock files anew (needs the tool uv: .venv/bin/pip install uv).
	@$(UV) --extra study --extra test --extra build --extra docs pyproject.toml -o requirements.lock
	@$(UV) --no-deps --extra engines pyproject.toml -o /dev/stdout \
		| awk '/^[a-z]/ {keep = /^bitbully/} keep' > requirements-engines.lock.tmp
	@mv requirements-engines.lock.tmp requirements-engines.lock

clean: ## Remove the environment, caches and quick reports (records and paper reports stay).
	@if [ -e .git ]; then $(FILTER).clean '' 2>/dev/null || true; fi
	@rm -rf .venv data/cache reports/quick reports/mine reports/staging reports/site reports/evaluate .pytest_cache .ruff_cache .mypy_cache .hypothesis
