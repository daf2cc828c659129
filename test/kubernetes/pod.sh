#!/usr/bin/env bash
# Runs the pods of the embedded profile in the same way as a node, in separate mount and network namespaces:
#   unshare --mount --net --fork --kill-child pod.sh PROJECT INPUT
# INPUT contains serve.env, backup.env and maintenance.env (NAME=VALUE), backup.command and erased-keys.command
# (arguments, each terminated by NUL), backup.identity (age), root.key, next.key, tls.crt and tls.key. Mounts have the owners and
# modes that kubelet sets for fsGroup 10001. The root file system is read-only. Prints NAME=VALUE lines for the test.
set -euo pipefail
project=$1 input=$2 group=10001

ip link set lo up
mount --make-rprivate /
for place in /opt /mnt /var/lib /run; do mount -t tmpfs tmpfs "$place"; done
mkdir /opt/strongroom /mnt/backups /var/lib/strongroom /run/strongroom /run/input
mount --bind "$project" /opt/strongroom
mount -o remount,bind,ro /opt/strongroom
cp "$input"/* /run/input/
chown "$group:$group" /run/input/backup.identity
mount -t tmpfs -o mode=1777,size=64m tmpfs /tmp

# secret NAME FILE...: creates a directory of links, like that of a mounted Secret.
secret() {
  local place=/run/strongroom/$1 file
  shift
  mkdir -p "$place/..2026_01_01"
  for file in "$@"; do
    install -m 0440 -g "$group" "/run/input/$file" "$place/..2026_01_01/$file"
    ln -s "..data/$file" "$place/$file"
  done
  ln -s ..2026_01_01 "$place/..data"
  chgrp -h -R "$group" "$place"
  chmod 3777 "$place"
  chmod 2755 "$place/..2026_01_01"
}
secret root-key root.key
mv /run/input/next.key /run/input/root.key
secret next-root-key root.key
secret tls tls.crt tls.key
rm /run/input/root.key /run/input/tls.*
for volume in /var/lib/strongroom /mnt/backups; do
  mount -t tmpfs -o "mode=2775,gid=$group" tmpfs "$volume"
done
mount -o remount,bind,ro /
if touch /written 2>/dev/null; then echo 'the root file system can be written' >&2; exit 1; fi

# in_pod ENV COMMAND...: runs COMMAND as the user of the container, with only the variables in ENV. Replaces the shell.
in_pod() {
  local variables
  mapfile -t variables <"/run/input/$1.env"
  shift
  cd /opt/strongroom
  exec setpriv --reuid "$group" --regid "$group" --groups "$group" --no-new-privs --inh-caps=-all --bounding-set=-all \
    env -i "PATH=$PATH" STRONGROOM_CONTAINER=true "${variables[@]}" "$@"
}
program=(prlimit --core=0:0 -- node /opt/strongroom/dist/bin/strongroom.js)
status_of() { curl -s -o /dev/null -w '%{http_code}' --cacert /run/strongroom/tls/tls.crt "$@" || true; }
readiness() { status_of http://127.0.0.1:9464/health/ready; }
create() {
  status_of -H "SERVICE-API-KEY: $key" -H 'content-type: application/json' -d '{"type":"token","data":"value"}' \
    https://localhost:8080/tokens
}
start() {
  (in_pod serve "${program[@]}" serve) >>/run/log 2>&1 &
  vault=$!
  for _ in $(seq 600); do
    [ "$(readiness)" != 200 ] || return 0
    kill -0 "$vault" 2>/dev/null || break
    sleep 0.1
  done
  cat /run/log >&2
  exit 1
}
# backup NAME: runs a backup like the CronJob with this name.
backup() {
  local command
  mapfile -d '' -t command <"/run/input/$1.command"
  (in_pod backup "${command[@]}") >>/run/log 2>&1 || { cat /run/log >&2; exit 1; }
}

(in_pod maintenance "${program[@]}" init --json) >/run/init 2>>/run/log || { cat /run/log >&2; exit 1; }
management=$(node -p 'JSON.parse(require("node:fs").readFileSync(0, "utf8")).management_key' </run/init)
start
key=$(curl -sS --cacert /run/strongroom/tls/tls.crt -H "SERVICE-API-KEY: $management" -H 'content-type: application/json' \
  -d '{"name":"a","type":"private","permissions":["token:create"]}' https://localhost:8080/applications |
  node -p 'JSON.parse(require("node:fs").readFileSync(0, "utf8")).key')
echo "created=$(create)"
echo "capabilities=$(sed -n 's/^CapEff:\s*//p' "/proc/$vault/status") $(sed -n 's/^CapBnd:\s*//p' "/proc/$vault/status")"
echo "user=$(stat -c %u:%g "/proc/$vault")"
if (in_pod serve touch /opt/strongroom/written) 2>/dev/null; then echo writes_program=yes; else echo writes_program=no; fi

# A backup is made next to the running process, and removes backups whose retention time is over.
install -d -o "$group" -g "$group" -m 0700 /mnt/backups/2025-01-01T000000Z
touch -d '20 days ago' /mnt/backups/2025-01-01T000000Z
backup backup
echo "backups=$(find /mnt/backups -name manifest.json | wc -l) $(find /mnt/backups -mindepth 1 -maxdepth 1 -type d | wc -l)"
# A list of erased keys removes old lists in the same way.
install -o "$group" -g "$group" -m 0600 /dev/null /mnt/backups/erased-keys-2025-01-01T000000Z.txt
touch -d '20 days ago' /mnt/backups/erased-keys-2025-01-01T000000Z.txt
backup erased-keys
lists=(/mnt/backups/erased-keys-*.txt)
echo "lists=${#lists[@]}"
echo "backup_metric=$(curl -s http://127.0.0.1:9464/metrics | sed -n 's/^strongroom_last_backup_timestamp_seconds //p')"

kill -TERM "$vault"
for _ in $(seq 100); do [ "$(readiness)" = 200 ] || break; sleep 0.02; done
echo "stopping=$(readiness) $(create)"
code=0
wait "$vault" || code=$?
echo "stopped=$code $(grep -c '"msg":"stopped"' /run/log)"

# The volume is mounted again. Everything in it then belongs to the group.
chgrp -R "$group" /var/lib/strongroom
find /var/lib/strongroom -type d -exec chmod g+rwxs {} +
find /var/lib/strongroom -type f -exec chmod g+rw {} +
start
echo "again=$(create)"
kill -TERM "$vault"
code=0
wait "$vault" || code=$?
echo "stopped_again=$code"

# The data volume is lost. A restore to an empty volume brings the data back.
umount /var/lib/strongroom
mount -t tmpfs -o "mode=2775,gid=$group" tmpfs /var/lib/strongroom
code=0
(in_pod maintenance "${program[@]}" restore /mnt/backups/20* --identity /run/input/backup.identity --erased "${lists[0]}") \
  >>/run/log 2>&1 || code=$?
if [ "$code" != 0 ]; then cat /run/log >&2; fi
start
echo "restored=$code $(create)"

# The keys are rotated. Then the Secret with the next root key takes the place of the old one.
code=0
(in_pod serve "${program[@]}" keys rotate --all) >>/run/log 2>&1 || code=$?
if [ "$code" != 0 ]; then cat /run/log >&2; fi
echo "rotated=$code $(create)"
kill -TERM "$vault"
wait "$vault"
rm -r /run/strongroom/root-key
mv /run/strongroom/next-root-key /run/strongroom/root-key
start
echo "with_next_key=$(create)"
kill -TERM "$vault"
wait "$vault"
