#!/usr/bin/env bash
# Installs the built project on this machine: a release in /opt/strongroom, the command `strongroom` on the PATH, the
# user `strongroom` with its directories, the settings, and a systemd unit. Run it as root, after `npm ci && npm run
# build`.
#
#   scripts/install.sh [--root DIR]              installs or upgrades; keeps the previous release for a rollback,
#                                                and removes older ones
#   scripts/install.sh --rollback [--root DIR]   returns to the previous release
#
# It does not start or stop any service, and never changes data, keys or settings. With --root DIR, all paths are below
# DIR.
set -euo pipefail
umask 022
fail() { printf '%s\n' "$*" >&2; exit 1; }

root='' action=install
while [ $# -gt 0 ]; do
  case $1 in
    --root) [ $# -ge 2 ] || fail '--root needs a directory.'; root=$(realpath -m "$2"); shift 2 ;;
    --rollback) action=rollback; shift ;;
    *) fail "unknown argument: $1. Use --root DIR or --rollback." ;;
  esac
done
[ "$(id -u)" = 0 ] || fail 'Run this as root: sudo scripts/install.sh'
# The wrapper and the unit contain the paths without quotes.
case $root in *[!A-Za-z0-9/._-]*) fail "the path $root may contain only letters, digits and / . _ -; nothing was changed." ;; esac
cd "$(dirname "$0")/.."

place=$root/opt/strongroom
wrapper=$root/usr/local/bin/strongroom
settings=$root/etc/strongroom/strongroom.json
data=$root/var/lib/strongroom

# Switches the link to the release in one step. A start at that moment finds either the old or the new release.
point() {
  ln -sfn "$1" "$place/.$2.new"
  mv -T "$place/.$2.new" "$place/$2"
}

if [ "$action" = rollback ]; then
  [ -L "$place/previous" ] || fail "there is no previous release in $place, so nothing was changed."
  now=$(readlink "$place/current")
  before=$(readlink "$place/previous")
  point "$before" current
  point "$now" previous
  echo "strongroom is now $before. Restart the service: systemctl restart strongroom"
  exit 0
fi

node=$(command -v node) || fail 'node is not on the PATH of root. Install Node.js 24, or the 20.19 of your distribution.'
node=$(realpath "$node")
case $node in *[!A-Za-z0-9/._+-]*) fail "the path $node may contain only letters, digits and / . _ + -; nothing was changed." ;; esac
case $root:$node in
  :/root/* | :/home/*) fail "the service cannot run $node, because it may not read home directories. Install Node.js for all users; nothing was changed." ;;
esac
[ -f dist/bin/strongroom.js ] || fail 'there is no build here. Run this first, as your own user: npm ci && npm run build'
# Starts the launcher, which checks Node.js and the native module.
"$node" dist/bin/strongroom.js --version >/dev/null || fail 'nothing was changed.'

getent group strongroom >/dev/null || groupadd --system strongroom
getent passwd strongroom >/dev/null || useradd --system --gid strongroom --no-create-home \
  --home-dir /nonexistent --shell /usr/sbin/nologin strongroom

mkdir -p "$place/releases"
release=releases/$("$node" -p 'require("./package.json").version')-$(date -u +%Y%m%dT%H%M%SZ)-$$
part=$place/$release.part
# Removes what a killed run left behind.
rm -rf "$place"/releases/*.part
mkdir "$part"
trap 'rm -rf "$part"' EXIT
cp -rL package.json package-lock.json dist node_modules "$part"
# The tests' cache, which would make equal builds differ.
rm -rf "$part/node_modules/.vite"
# Removes the packages that only a build needs. --ignore-scripts ensures that no package script runs as root.
(cd "$part" && npm prune --omit=dev --ignore-scripts --offline --no-fund --no-audit --loglevel=error)
chown -R root:root "$part"
chmod -R u+rwX,go+rX,go-w "$part"
"$node" "$part/dist/bin/strongroom.js" --version >/dev/null
if diff -rq "$part" "$place/current/" >/dev/null 2>&1; then
  # The previous release stays the one before, so a rollback still reaches it.
  release=$(readlink "$place/current")
else
  mv "$part" "$place/$release"
  if [ -L "$place/current" ]; then point "$(readlink "$place/current")" previous; fi
  point "$release" current
fi

# Removes older releases. A process that was not restarted may still load files from its release, which stays.
previous=$(readlink "$place/previous" || true)
for old in "$(realpath "$place")"/releases/*; do
  case releases/${old##*/} in "$release" | "$previous") continue ;; esac
  grep -qsF "$old/" /proc/[0-9]*/maps || rm -rf "$old"
done

install -d -m 0755 "$(dirname "$wrapper")"
printf '#!/bin/sh\nexec %s %s "$@"\n' "$node" "$place/current/dist/bin/strongroom.js" >"$wrapper"
chmod 0755 "$wrapper"

[ -d "$(dirname "$settings")" ] || install -d -m 0750 -o strongroom -g strongroom "$(dirname "$settings")"
[ -d "$data" ] || install -d -m 0700 -o strongroom -g strongroom "$data"
if [ ! -e "$settings" ]; then
  printf '{\n  "data": "%s",\n  "root_key_file": "%s"\n}\n' "$data" "$(dirname "$settings")/root.key" >"$settings"
  chown root:strongroom "$settings"
  chmod 0640 "$settings"
fi

if [ -z "$root" ]; then
  setpriv --reuid=strongroom --regid=strongroom --clear-groups "$wrapper" --version >/dev/null ||
    fail "$release is installed, but the user strongroom cannot run $wrapper."
fi

unit=$root/etc/systemd/system/strongroom.service
install -d -m 0755 "$(dirname "$unit")"
sed -e "s|@wrapper@|$wrapper|" -e "s|@settings@|$settings|" -e "s|@data@|$data|" \
  -e "s|@etc@|$(dirname "$settings")|" scripts/strongroom.service >"$unit"
chmod 0644 "$unit"
if command -v systemd-analyze >/dev/null; then
  # Without this option, the command only warns about directives that systemd ignores, and exits with status 0. The
  # option exists since systemd 250.
  version=$(systemd-analyze --version | awk 'NR == 1 { print $2 + 0 }')
  strict=()
  if [ "$version" -ge 250 ]; then strict=(--recursive-errors=no); fi
  systemd-analyze verify "${strict[@]}" "$unit"
fi
if [ -z "$root" ] && [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
echo "strongroom is now $release. Start or restart the service: systemctl enable strongroom && systemctl restart strongroom"
