#!/bin/sh
# Run the tests of what may differ between Pythons on each from 3.12 on that is found
# here, in an environment of its own: .venv-3.12, .venv-3.13 ... Laws meet ten examples each:
# all are drawn by `make test`. How much memory large messages take is tried there, too.
# Debian's own 3.11, whose `re` has a fault (tests/contract/test_patterns.py), runs those of
# reading mail.
set -e
TESTS="tests/unit tests/cli tests/golden tests/serve tests/properties tests/concurrency"
failed=
for minor in 12 13 14 15; do
  python=
  for found in "$(command -v "python3.$minor")" \
    "${PYENV_ROOT:-$HOME/.pyenv}/versions/3.$minor."*/bin/python3; do
    [ -n "$python" ] || ! "$found" -c '' 2> /dev/null || python=$found
  done
  if [ -z "$python" ]; then
    echo "Python 3.$minor is not here"
    continue
  fi
  folder=.venv-3.$minor
  if ! [ -e "$folder/.ready" ]; then
    "$python" -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check --editable '.[test]'
    touch "$folder/.ready"
  fi
  echo "Python 3.$minor:"
  # shellcheck disable=SC2086  # folders
  "$folder/bin/pytest" -q -n auto --maxprocesses 8 --dist worksteal \
    -p no:cacheprovider --hypothesis-profile few --ignore tests/serve/test_heavy.py \
    -m "not corpus" $TESTS || failed="$failed 3.$minor"
done
python=/usr/bin/python3.11
if "$python" -c 'import ensurepip' 2> /dev/null; then
  folder=.venv-3.11-system
  if ! [ -e "$folder/.ready" ]; then
    "$python" -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check \
      click hypothesis msgpack numpy pytest regex rich
    touch "$folder/.ready"
  fi
  echo "$("$python" --version) of the system:"
  PYTHONPATH=. "$folder/bin/python" -m pytest -q -p no:cacheprovider \
    tests/contract/test_patterns.py tests/unit/mail tests/unit/filtering ||
    failed="$failed 3.11"
else
  echo "a Python 3.11 of the system, with its venv, is not here"
fi
[ -z "$failed" ] || { echo "failed on Python$failed" && exit 1; }
