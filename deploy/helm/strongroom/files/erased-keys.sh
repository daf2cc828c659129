# Writes the list of erased keys under a name with the current time, then removes lists that are days old, and what killed
# runs left. A newer list has everything that an older one has.
#   sh -euc "$(cat erased-keys.sh)" erased-keys
node "$PROGRAM" backup "$BACKUPS/erased-keys-$(date -u +%Y-%m-%dT%H%M%SZ).txt" --erased-only
find "$BACKUPS" -mindepth 1 -maxdepth 1 -type f \
  \( -name 'erased-keys-20*Z.txt' -o -name '.erased-keys-20*Z.txt.part-*' \) -mtime +1 -exec rm -f {} +
