# Writes a backup named after the current time, then removes backups older than KEEP_DAYS. If the backup fails or
# has damaged keys (exit code 3), it removes none.
#   sh -euc "$(cat backup.sh)" backup KEEP_DAYS --recipient age1...
keep_days=$1
shift
folder=$BACKUPS/$(date -u +%Y-%m-%dT%H%M%SZ)
node "$PROGRAM" backup "$folder" "$@"
find "$BACKUPS" -mindepth 1 -maxdepth 1 -type d -name '20*Z' -mtime "+$keep_days" -exec rm -rf {} +
