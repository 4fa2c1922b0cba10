#!/usr/bin/env bash
# Prints a Python that has what the tests of the package need: that of PYTHON, of the path, or of the system. Exit code 1 if
# there is none.
for python in "${PYTHON:-python3}" /usr/bin/python3; do
    if "$python" -c 'import sys, ipykernel, matplotlib, nbclient, numpy, pandas; assert sys.version_info >= (3, 10)' \
        >/dev/null 2>&1; then
        command -v "$python"
        exit 0
    fi
done
echo "scripts/python-for-tests.sh: no Python 3.10 has numpy, pandas, matplotlib, nbclient and ipykernel" >&2
exit 1
