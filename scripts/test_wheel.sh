#!/bin/sh
# Install a wheel into a fresh environment, and run the tests of the command line
# against it; then build and install one without a C compiler, which must work, too.
#
#     sh scripts/test_wheel.sh dist/nbtext-0.1.0-cp311-abi3-linux_x86_64.whl
set -eu
wheel=$(realpath "$1")
python=${PYTHON:-python3}
source=$(pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

pip() { "$folder/venv/bin/python" -m pip --quiet --disable-pip-version-check "$@"; }

# the tests without the checkout beside them, so that no module of it is imported
cp -R tests corpora docs man pyproject.toml README.md "$folder"
"$python" -m venv "$folder/venv"
pip install "$wheel" pytest pytest-xdist hypothesis 'click>=8.2'
cd "$folder"
venv/bin/nbtext --version
venv/bin/nbtext --version | grep -q '(compiled)$'
test -f venv/share/man/man1/nbtext-train.1
if command -v man > /dev/null; then
    (PATH="$folder/venv/bin:$PATH" && unset MANPATH && man -w nbtext nbtext-train)
fi
venv/bin/python -c 'import nbtext; print(nbtext.__file__)' | grep "^$folder/venv/"
PATH="$folder/venv/bin:$PATH" venv/bin/python -m pytest -q -p no:cacheprovider -n 2 tests/cli

cd "$source"
cp -R bin nbtext setup.py LICENSE MANIFEST.in CHANGELOG.md "$folder"
rm -f "$folder"/nbtext/*.so
pip uninstall --yes nbtext
(cd "$folder" && CC=false pip install . && rm -rf nbtext build)
cd "$folder"
venv/bin/nbtext --version
venv/bin/nbtext --version | grep -q '(plain Python: no compiled extension)$'
venv/bin/nbtext train -q -m m.nbt corpora/demo/spam corpora/demo/ham
venv/bin/nbtext eval -m m.nbt corpora/demo/check | head -n 3
