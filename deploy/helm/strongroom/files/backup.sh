# Writes a backup named after the current time, then removes backups older than KEEP_DAYS. If the backup contains damage
# (exit code 3), keeps the newest backup without damage, even if it is older. If the backup fails, removes none. If only
# its time could not be recorded (exit code 4), the backup is complete.
# Before the backup, removes what killed backups left more than a day ago, because it would fill the volume.
#   sh -euc "$(cat backup.sh)" backup KEEP_DAYS --recipient age1...
keep_days=$1
shift
folder=$BACKUPS/$(date -u +%Y-%m-%dT%H%M%SZ)
# The name of the newest backup without damage.
newest=$BACKUPS/.newest-intact
find "$BACKUPS" -mindepth 1 -maxdepth 1 -type d -name '.20*Z.part-*' -mmin +1440 -exec rm -rf {} +
code=0
node "$PROGRAM" backup "$folder" "$@" || code=$?
case $code in
  0 | 4) printf '%s\n' "${folder##*/}" >"$newest" ;;
  # Without this name, any of the older backups may be the only one without damage.
  3) [ -s "$newest" ] || exit 3 ;;
  *) exit "$code" ;;
esac
find "$BACKUPS" -mindepth 1 -maxdepth 1 -type d -name '20*Z' ! -name "$(cat "$newest")" -mtime "+$keep_days" \
  -exec rm -rf {} +
exit "$code"
