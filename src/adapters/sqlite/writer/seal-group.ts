import type { CommitOutcome } from '../../../ports/unit-of-work.js';
import type { Attempt } from '../database/group-commit.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { encodeChanges } from '../journal/change-bytes.js';
import { groupHash, type JournalEnd, type JournalGroup } from '../journal/journal.js';
import { appliedIn, noteApplied } from './complete-vault.js';
import type { StoreRequest } from './protocol.js';

/** Creates the functions that record the requests in a `vault.db` transaction as a journal group. */
export function createGroupSeal(vault: SqliteDatabase) {
  const newestPosition = vault.prepare('SELECT ifnull(max(position), 0) FROM events').pluck();
  const note = noteApplied(vault);
  let applied: JournalEnd = appliedIn(vault);
  let group: JournalGroup | null = null;

  return {
    /**
     * Creates the journal group, and records it in `vault.db`. Call this inside the transaction, just before its
     * commit.
     */
    begin(requests: readonly StoreRequest[], attempts: readonly Attempt[]): void {
      const changes = requests.filter((request, index) => changesVault(request, attempts[index]));
      if (changes.length === 0) return;
      const encoded = encodeChanges(changes.map(({ operation, input }) => ({ operation, input })));
      const sequence = applied.sequence + 1;
      const hash = groupHash(applied.hash, sequence, encoded);
      group = { sequence, hash, position: Number(newestPosition.get()), changes: encoded };
      note(group);
    },
    /**
     * Returns the group created by `begin`. Call this after the commit. Returns null if the transaction failed or
     * changed nothing.
     */
    end(isCommitted: boolean): JournalGroup | null {
      const sealed = isCommitted ? group : null;
      group = null;
      if (sealed !== null) applied = { sequence: sealed.sequence, hash: sealed.hash };
      return sealed;
    },
  };
}

function changesVault({ operation }: StoreRequest, attempt: Attempt | undefined): boolean {
  // An erasure of postings is not recorded in the journal, because it can be repeated from the changes stored in the
  // search index.
  if (attempt?.ok !== true || operation === 'erase_postings') return false;
  return operation !== 'commit' || (attempt.answer as CommitOutcome).outcome === 'committed';
}
