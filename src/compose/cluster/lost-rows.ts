import { batcher } from '../../adapters/mongodb/batcher.js';
import type { MongoConnection } from '../../adapters/mongodb/connection.js';
import { directoryIn } from '../../adapters/mongodb/directory/directory-document.js';
import { directoryIndexes } from '../../adapters/mongodb/directory/directory-indexes.js';
import type { MongoGenerations } from '../../adapters/mongodb/generations/mongo-generations.js';
import { keyCollections } from '../../adapters/mongodb/key-store/key-collections.js';
import { checkIndexes, lacksIndexes, type RequiredIndexes } from '../../adapters/mongodb/required-indexes.js';
import { tokenRowsIndexes } from '../../adapters/mongodb/token-rows/token-rows-indexes.js';
import type { KeyRing } from '../../keys/key-ring.js';
import type { Directory } from '../../ports/directory.js';
import type { Maybe } from '../../ports/maybe.js';
import type { FoundProblem } from '../../ports/store-problem.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import type { TokenRows } from '../../ports/token-rows.js';

type Deps = {
  readonly rowsConnection: MongoConnection;
  readonly keysConnection: MongoConnection;
  readonly generations: Pick<MongoGenerations, 'fresh'>;
  readonly keys: Pick<KeyRing, 'directoryRevisions'>;
  readonly directory: Directory;
  readonly rows: TokenRows;
};

/**
 * Detects that the collection of the directory or of the token rows was dropped, or that the directory lacks rows.
 * Without this check, a missing row means that the token or the API key does not exist. `directory` and `rows` fail
 * with StoreUnavailable instead of finding nothing. A read that finds something costs nothing more.
 *
 * Missing token rows are not detected if the collection has its indexes.
 */
export function guardLostRows(needs: Deps) {
  const { rowsConnection, keysConnection, generations, keys, directory, rows } = needs;

  /**
   * The key store has a revision for each row that the vault wrote to the directory. No row is removed. Threat: an
   * attacker sends many unknown API keys. Counting all rows takes 20 ms with 10,000 of them, so the sizes that MongoDB
   * maintains are compared first, which takes about 1 ms.
   */
  async function lacksRecords(): Promise<boolean> {
    const ofRevisions = await keysConnection.call((db) =>
      keyCollections.directoryRevisions(db).estimatedDocumentCount(),
    );
    const ofRows = await rowsConnection.call((db) => directoryIn(db).estimatedDocumentCount());
    if (ofRows >= ofRevisions) return false;
    // The revisions are -1 after an older log was accepted, because it may lack some of the records.
    const known = { revision: { $gte: 0 } };
    const recorded = await keysConnection.call((db) => keyCollections.directoryRevisions(db).countDocuments(known));
    const stored = await rowsConnection.call((db) => directoryIn(db).countDocuments());
    return stored < recorded;
  }

  async function lackingIndexes(required: RequiredIndexes): Promise<FoundProblem | null> {
    const missing = await rowsConnection.call((db) => checkIndexes(db, [required]));
    return missing.length === 0 ? null : lacksIndexes(missing);
  }

  async function inDirectory(): Promise<FoundProblem | null> {
    // If this document is missing, all rows may have been dropped.
    await generations.fresh();
    if (!(await lacksRecords())) return null;
    return (await lackingIndexes(directoryIndexes)) ?? lostRecords;
  }

  async function inTokens(): Promise<FoundProblem | null> {
    const { read } = await generations.fresh();
    const lacking = await lackingIndexes(tokenRowsIndexes(read));
    return lacking === null ? null : { ...lacking, do: repairTokens };
  }

  const expected = (find: () => Promise<FoundProblem | null>) => {
    const checks = batcher<null, void>(async () => {
      const lost = await find();
      if (lost !== null) throw rowsMissing(lost);
      return [];
    });
    return async <T>(read: Maybe<T>, isEmpty: (found: T) => boolean): Promise<T> => {
      const found = await read;
      if (isEmpty(found)) await checks.add(null);
      return found;
    };
  };
  const records = expected(inDirectory);
  const tokens = expected(inTokens);

  return {
    /** Returns the rows and the indexes that are lost. */
    async find(): Promise<readonly FoundProblem[]> {
      const lost = [(await lackingIndexes(directoryIndexes)) ?? (await inDirectory()), await inTokens()];
      return lost.filter((each) => each !== null);
    },
    directory: {
      ...directory,
      byKeyHash: (keyHash) => records(directory.byKeyHash(keyHash), (found) => found === null),
      async get(kind, id) {
        const found = await directory.get(kind, id);
        if (found !== null) return found;
        const revision = [...(await keys.directoryRevisions([{ kind, id }])).values()][0] ?? -1;
        if (revision >= 0) throw rowsMissing((await lackingIndexes(directoryIndexes)) ?? lostRecords);
        return null;
      },
    } satisfies Directory,
    rows: {
      ...rows,
      get: (stream) => tokens(rows.get(stream), (found) => found === null),
      search: (plan, page) => tokens(rows.search(plan, page), ({ total }) => total === 0),
      walk: (plan, step) => tokens(rows.walk(plan, step), ({ length }) => length === 0),
      countByType: (tenantId, now) => tokens(rows.countByType(tenantId, now), ({ size }) => size === 0),
    } satisfies TokenRows,
  };
}

const lostRecords = {
  check: 'rows',
  says: 'MongoDB lacks rows of tenants or applications',
  do: 'Run `strongroom projections rebuild directory`',
} satisfies FoundProblem;

/** If only the indexes are gone, the rebuild does no harm. Its option is needed because the old rows are incomplete. */
const repairTokens = 'Run `strongroom init`, and then `strongroom projections rebuild tokens --accept-new`';

function rowsMissing(lost: FoundProblem): StoreUnavailable {
  return new StoreUnavailable('mongodb', 'rows_missing', lost);
}
