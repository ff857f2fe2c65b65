# One line a target; every one installs what it needs first.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# Programs from Debian that docs/recipes is about.
RECIPES := procmail maildrop dovecot-imapd dovecot-lmtpd dovecot-sieve spamc postfix \
  mutt notmuch getmail6 offlineimap3 isync cron systemd bogofilter

.PHONY: demo test check lint types corpus-test recipes-test golden bench fuzz docs clean

demo: $(READY)
	@sh corpora/demo.sh $(BIN)/nbtext

test: $(READY)
	$(BIN)/pytest -q -m "not corpus"

check: lint types test

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

corpus-test: $(READY)
	$(BIN)/pytest -q -m corpus

recipes-test: $(READY)
	@sh tests/recipes/install.sh $(RECIPES)
	$(BIN)/pytest -q -m "recipes and not corpus" -rs

golden: $(READY)
	$(BIN)/pytest -q tests/golden --rewrite

bench: $(READY)
	$(BIN)/python -m benchmarks

fuzz: $(READY)
	$(BIN)/python -m fuzz mail
	$(BIN)/python -m fuzz model

docs: $(READY)
	$(BIN)/python docs/make_cli.py

clean:
	rm -rf $(VENV) build dist *.egg-info nbtext/*.so .mypy_cache .ruff_cache .pytest_cache

$(READY): pyproject.toml setup.py nbtext/_compiled.c
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev,fuzz]' \
	  || $(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@
