#!/bin/sh
# What `make demo` runs: train on the demonstration corpus, then classify and
# evaluate messages that training has not seen. Nothing is left behind.
#
#     sh corpora/demo.sh path/to/nbtext
set -eu

if [ $# -ne 1 ] || ! program=$(command -v "$1"); then
    echo 'usage: sh corpora/demo.sh path/to/nbtext' >&2
    exit 64
fi
case $program in
    /*) ;;
    *) program=$PWD/$program ;;
esac
cd "$(dirname "$0")/demo"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 141' PIPE
trap 'exit 143' TERM
NBTEXT_MODEL=$folder/demo.nbt
export NBTEXT_MODEL

nbtext() {
    "$program" "$@"
}

# A reader that closes the pipe, such as head(1), is nothing to complain of.
show() {
    printf "$@" 2>/dev/null
}

say() {
    show '\n# %s\n' "$1"
}

# Show a command line as one would type it, then run it.
run() {
    show '$ %s\n' "$1"
    eval "$1"
}

# The same for a command whose exit status is its answer; it must be $1.
run_with_status() {
    show '$ %s\n' "$2"
    found=0
    eval "$2" || found=$?
    show '(exit status %s)\n' "$found"
    [ "$found" -eq "$1" ]
}

show 'In %s, with the model in a temporary folder:\n' "$PWD"

say 'Learn what spam and ham look like; a folder is a class.'
run 'nbtext train spam ham 2>&1'

say 'What the model knows.'
run 'nbtext info'

say 'Messages that it has not seen: class, probability, name.'
run 'nbtext classify check/spam check/ham'

say 'One message, as a pipe would hand it over, for a program to read.'
run 'nbtext classify --json < check/spam/03-advance-fee.eml'

say 'The same for a shell script: the exit status is the answer, 0 for yes, 1 for no.'
run_with_status 0 'nbtext classify --is spam < check/spam/03-advance-fee.eml'
run_with_status 1 'nbtext classify --is spam < check/ham/05-short-reply.eml'

say 'How many of them were right? (Twelve messages prove little: corpora/README.md.)'
run 'nbtext eval check/spam check/ham'
