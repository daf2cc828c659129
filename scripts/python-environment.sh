#!/usr/bin/env bash
# Creates clients/python/.venv, unless it is up to date. It contains the tools that generate, check and test the Python
# client.
set -euo pipefail
cd "$(dirname "$0")/../clients/python"

cmp --silent requirements.txt .venv/requirements.txt && exit
rm -rf .venv
python3 -m venv .venv
.venv/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.txt
cp requirements.txt .venv/
