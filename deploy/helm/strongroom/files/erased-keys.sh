# Writes the list of erased keys under a name with the time, then removes lists that are days old. A newer list contains
# everything in an older one.
#   sh -euc "$(cat erased-keys.sh)" erased-keys
node "$PROGRAM" backup "$BACKUPS/erased-keys-$(date -u +%Y-%m-%dT%H%M%SZ).txt" --erased-only
find "$BACKUPS" -mindepth 1 -maxdepth 1 -type f -name 'erased-keys-20*Z.txt' -mtime +1 -exec rm -f {} +
