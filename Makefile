# Every target installs what it needs first. `demo` uses an environment of the user's,
# .venv, which holds nbtext and what it runs with; all others use the developer's,
# .venv-dev, in which nbtext is this folder and the tools are installed, too.
PYTHON ?= python3
VENV ?= .venv
DEV ?= .venv-dev
BIN := $(DEV)/bin
READY := $(DEV)/.ready
# compiled once and kept: tests start hundreds of processes
unexport PYTHONDONTWRITEBYTECODE
# the tests side by side, on every core; JOBS=0 has them in one process
JOBS ?= auto
PYTEST := $(BIN)/pytest -q -n $(JOBS) --maxprocesses 8 --dist worksteal
# where long runs of the fuzzers keep the inputs that they find
KEPT ?= fuzz-kept
PIP_FLAGS := --quiet --disable-pip-version-check
COMPILED := $(wildcard nbtext/compiled/*.[ch])
SOURCES := $(shell find nbtext -name '*.py' -o -name '*.bin') $(COMPILED)

ENOUGH := import sys; sys.exit(sys.version_info < (3, 11) and \
  "nbtext needs Python 3.11 or newer, and this is " + sys.version.split()[0] + \
  "; name another one: make PYTHON=python3.12 ...")

# Programs from Debian that docs/recipes is about.
RECIPES := procmail maildrop dovecot-imapd dovecot-lmtpd dovecot-sieve spamc postfix \
  mutt notmuch getmail6 offlineimap3 isync cron systemd bogofilter

.PHONY: demo test check lint types corpus-test recipes-test pythons-test golden bench fuzz fuzz-long docs sdist \
  wheel wheel-test clean

demo: $(VENV)/.ready
	@sh corpora/demo.sh $(VENV)/bin/nbtext
	@echo
	@echo 'That was the demo. What to type next, in this folder:'
	@echo
	@echo '    . $(VENV)/bin/activate     # or write $(VENV)/bin/nbtext for nbtext below'
	@echo '    nbtext train spam=PATH ham=PATH     # folders, Maildirs or mboxes of your mail'
	@echo '    nbtext classify < MESSAGE'
	@echo '    nbtext --help'

test: $(READY)
	$(PYTEST) -m "not corpus"

check: lint types test

# on each other Python from 3.12 on that is here, what may differ between them
pythons-test: $(READY)
	@sh tests/pythons.sh

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

corpus-test: $(READY)
	$(PYTEST) -m corpus

recipes-test: $(READY)
	@sh tests/recipes/install.sh $(RECIPES)
	$(PYTEST) -m "recipes and not corpus" -rs

golden: $(READY)
	$(BIN)/pytest -q tests/golden --rewrite

bench: $(READY)
	$(BIN)/python -m benchmarks

fuzz: $(READY)
	$(BIN)/python -m fuzz mail
	$(BIN)/python -m fuzz model
	for target in native:mail native:model readers stored calls; do \
	  $(BIN)/python -m fuzz.$$(echo $$target | tr : ' ') || exit 1; done

# an hour of each compiled reader, about 10,000,000 executions; run again, it goes on
fuzz-long: $(READY)
	for target in mail model; do mkdir -p $(KEPT)/$$target && nice $(BIN)/python -m \
	  fuzz.native $$target --seconds 3600 --kept $(KEPT)/$$target || exit 1; done
	$(BIN)/python -m fuzz.readers --seconds 3600 --seeds $(KEPT)/mail --kept $(KEPT)/mail

docs: $(READY)
	$(BIN)/python docs/make_cli.py
	$(BIN)/python docs/make_man.py

sdist: $(READY)
	$(BIN)/python -m build --sdist --no-isolation

wheel: $(READY)
	@rm -rf build dist/nbtext-*.whl
	$(BIN)/python -m build --wheel --no-isolation
	@rm -rf build

wheel-test: wheel
	PYTHON=$(PYTHON) sh scripts/test_wheel.sh dist/nbtext-*.whl

clean:
	rm -rf $(VENV) $(DEV) .venv-3.* build dist *.egg-info nbtext/*.so .mypy_cache .ruff_cache .pytest_cache

# build/ is removed, or modules deleted since would be installed from it
$(VENV)/.ready: pyproject.toml setup.py $(SOURCES)
	@$(PYTHON) -c '$(ENOUGH)'
	@echo 'Installing nbtext, numpy and four smaller packages into $(VENV): half a minute, 120 MB.'
	@rm -rf build
	@$(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/pip install $(PIP_FLAGS) .
	@rm -rf build
	@touch $@

$(READY): pyproject.toml setup.py $(COMPILED)
	@$(PYTHON) -c '$(ENOUGH)'
	@echo 'Installing nbtext and the tools of its development into $(DEV): some minutes, 800 MB.'
	$(PYTHON) -m venv $(DEV)
	$(BIN)/pip install $(PIP_FLAGS) --editable '.[dev,fuzz]' \
	  || $(BIN)/pip install $(PIP_FLAGS) --editable '.[dev]'
	touch $@
