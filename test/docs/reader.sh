# Sets up a reader's shell, and defines the functions that test/docs/adaptations.ts names.
set -aeuo pipefail
if [ -f "$PLACE/state" ]; then . "$PLACE/state"; fi
trap 'status=$?; export -p >"$PLACE/state"; exit $status' EXIT

# Makes a block fail if its request is rejected. By default, curl succeeds in that case.
curl() { command curl --fail-with-body "$@"; }

# Replaces age-keygen. It supports what the pages use: -o FILE creates an identity, and -y FILE prints the recipient.
age-keygen() {
  node --input-type=module -e '
    import { readFileSync, writeFileSync } from "node:fs";
    import { generateIdentity, identityToRecipient } from "age-encryption";
    const [option, file] = process.argv.slice(1);
    if (option === "-o") writeFileSync(file, `# made for a page\n${await generateIdentity()}\n`, { mode: 0o600 });
    else console.log(await identityToRecipient(readFileSync(file, "utf8").split("\n")[1]));
  ' -- "$@"
}

use_installed_modules() { ln -sfn "$INSTALLED_MODULES" node_modules; }

# Runs a command as the user that the page created. Like sudo, it does not pass on variables.
as_strongroom() {
  sudo -u strongroom STRONGROOM_PORT="$STRONGROOM_PORT" STRONGROOM_ADMIN_PORT="$STRONGROOM_ADMIN_PORT" "$@"
}

# Runs the command from the unit as the user from the unit.
as_unit() {
  local unit=$PLACE/root/etc/systemd/system/strongroom.service
  grep -qx 'User=strongroom' "$unit"
  grep -qx "ReadWritePaths=$PLACE/root/var/lib/strongroom $PLACE/root/etc/strongroom" "$unit"
  # Without this option, the command exits with status 0 even if it warns about a directive that systemd ignores.
  systemd-analyze verify --recursive-errors=no "$unit"
  as_strongroom sh -c "exec $(sed -n 's/^ExecStart=//p' "$unit")"
}

# Stops what the previous block started, starts this command, and returns when the command is ready.
in_background() {
  stop_background
  # Empties the file, because it can contain the line with which the previous service reported that it was ready.
  : >"$PLACE/output"
  set -m
  "$@" >"$PLACE/output" 2>&1 &
  set +m
  echo $! >"$PLACE/process"
  for _ in $(seq 1200); do
    if grep -q '"msg":"Strongroom listens on ' "$PLACE/output"; then return 0; fi
    if ! kill -0 "$!" 2>/dev/null; then break; fi
    sleep 0.1
  done
  cat "$PLACE/output" >&2
  return 1
}

# Starts a program next to the service, and returns when the program listens.
beside() {
  "$@" >"$PLACE/beside" 2>&1 &
  echo $! >>"$PLACE/besides"
  for _ in $(seq 1200); do
    if grep -q ' listens on ' "$PLACE/beside"; then return 0; fi
    sleep 0.1
  done
  cat "$PLACE/beside" >&2
  return 1
}

# Kills the process group, and waits until none of its processes is left.
stop_background() {
  if [ -f "$PLACE/besides" ]; then
    xargs -r kill <"$PLACE/besides" 2>/dev/null || true
    rm "$PLACE/besides"
  fi
  [ -f "$PLACE/process" ] || return 0
  local group
  group=$(cat "$PLACE/process")
  kill -TERM -- "-$group" 2>/dev/null || true
  while kill -0 -- "-$group" 2>/dev/null; do sleep 0.05; done
  rm "$PLACE/process"
}
