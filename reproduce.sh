#!/bin/sh
# From a clone to the results:  ./reproduce.sh        everything: the environment, and make reproduce
#                               ./reproduce.sh min    the environment, and the table of make evaluate
# Trainings that no record has are made with BUDGET=all ./reproduce.sh, in days; see the README.
set -eu
cd "$(dirname "$0")"
case "${1:-all}" in
    all) make reproduce ;;
    min) make evaluate ;;
    *) echo "usage: ./reproduce.sh [all|min]" >&2; exit 2 ;;
esac
