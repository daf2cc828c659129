import { keysOf } from '../../domain/token/token-state.js';
import { isTokenStream } from '../../events/tokens/stream-name.js';
import { ForgedLog } from '../../ports/event-log.js';
import type { Metrics } from '../../ports/metrics.js';
import { filesCheck, StoreProblem } from '../../ports/store-problem.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { ForgedRow, type RowName } from '../../vault/forged-row.js';
import { KeyLost, type LostKey } from '../../vault/key-lost.js';
import { loadToken } from '../../vault/load-token.js';
import { indexKeysOf, searchTermKeyOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';

/** The maximum number of forged rows, and of streams whose keys are lost, that are remembered. `doctor` finds all. */
const namedMax = 10;
/** The maximum number of damaged rows and keys that are logged. */
const loggedMax = 1_000;
/** How often `forgetRepaired` reads the forged rows again, in ms. Anyone can ask whether the service is ready. */
const repairedMs = 1_000;

/** A forged row that a request or background work has found. */
type Forged = {
  readonly row: RowName;
  readonly message: string;
  /** The generation that token rows were read from, or null if it is not known yet. */
  generation: number | null;
};

type RepairDeps = Pick<Vault, 'directory' | 'claims' | 'generations' | 'keys' | 'log'>;

/** Remembers the damage in the stores that requests and background work report. `onError` logs an error. */
export function createDamage(
  generations: Vault['generations'],
  metrics: Pick<Metrics, 'forgedRowFound'>,
  onError: (error: unknown) => void,
) {
  /** The streams whose keys are lost, and what is lost of each. Not all of them, because there can be many. */
  const lost = new Map<string, LostKey>();
  const forged = new Map<string, Forged>();
  /** The messages about damaged files. There are only a few files, so the set stays small. */
  const damagedFiles = new Set<string>();
  const logged = new Set<string>();
  let forgedLog: string | null = null;
  let lookedAt = Number.NEGATIVE_INFINITY;

  function addForged({ row, message }: ForgedRow): void {
    metrics.forgedRowFound();
    const name = `${row.of} ${row.name}`;
    if (forged.size >= namedMax && !forged.has(name)) return;
    const found: Forged = { row, message, generation: null };
    forged.set(name, found);
    const noted = generations.inUse().then(({ read }) => {
      found.generation = read;
    });
    // Without the generation, the row counts as forged until the next start.
    noted.catch(() => undefined);
  }

  /** Remembers the damage if the error reports any. */
  function report(error: unknown): void {
    if (error instanceof KeyLost && lost.size < namedMax) lost.set(error.stream, error.what);
    if (error instanceof ForgedLog) forgedLog ??= error.what;
    if (error instanceof StoreProblem && error.found?.check === filesCheck) damagedFiles.add(error.message);
    if (error instanceof ForgedRow) addForged(error);
  }

  return {
    report,
    /** Like `report`, but also logs the error, unless it was logged before. */
    reportOnce(error: unknown): void {
      const text = String(error);
      // Threat: an attacker fills the service's log by sending requests with guessed keys.
      if (!logged.has(text) && logged.size < loggedMax) {
        logged.add(text);
        onError(error);
      }
      report(error);
    },
    /** Describes the damage that was found and has not been repaired. */
    list: (): readonly string[] => [
      ...(lost.size > 0 ? ['token keys are lost'] : []),
      ...(forgedLog === null ? [] : [`the log was changed from outside: ${forgedLog}`]),
      ...[...forged.values()].map(({ message }) => message),
      ...damagedFiles,
    ],
    /** Forgets the forged rows and lost keys that were repaired since they were found. */
    async forgetRepaired(vault: RepairDeps): Promise<void> {
      if (forged.size + lost.size === 0 || performance.now() - lookedAt < repairedMs) return;
      lookedAt = performance.now();
      for (const [stream, what] of lost) {
        try {
          if (await areKeysBack(vault, stream, what)) lost.delete(stream);
        } catch (error) {
          if (isOutage(error)) return;
        }
      }
      for (const [name, found] of forged) {
        try {
          const isRepaired = await repaired(vault, found);
          // If a read found the row again in the meantime, the row is still forged.
          if (isRepaired && forged.get(name) === found) forged.delete(name);
        } catch (error) {
          if (isOutage(error)) return;
        }
      }
    },
  };
}

/**
 * Returns true if the next check would also wait until the store's time limit has passed. If rows are lost (`found`),
 * the store responds.
 */
function isOutage(error: unknown): boolean {
  return error instanceof StoreUnavailable && error.found === null;
}

/**
 * Returns true if all keys of a stream exist again, for example because the key store was repaired. For the stream of a
 * tenant, the search keys must exist too. Throws KeyLost if they do not. Only the next start forgets a damaged
 * ciphertext.
 */
async function areKeysBack(vault: RepairDeps, stream: string, what: LostKey): Promise<boolean> {
  const { log, keys, directory } = vault;
  const [first] = await log.readClearFrom(stream, 0, 1);
  if (what === 'ciphertext_damaged' || first === undefined) return false;
  const { tenantId } = first;
  const tenant = await directory.get('tenant', tenantId);
  if (tenant !== null && tenant.removedAt !== null) return true;
  if ((await keys.tenantKeys(tenantId)) === null) return false;
  if (!isTokenStream(stream)) {
    await searchTermKeyOf(vault, tenantId);
    await indexKeysOf(vault, tenantId);
    return true;
  }
  const { life } = (await loadToken({ log }, tenantId, stream)).state;
  for (const keyId of life === null ? [] : keysOf(life)) {
    if ((await keys.use(tenantId, keyId, () => true)).state !== 'open') return false;
  }
  return true;
}

/** Returns true if a forged row was repaired since it was found. */
async function repaired(
  { directory, claims, generations, keys }: RepairDeps,
  { row: { of, name }, generation }: Forged,
): Promise<boolean> {
  if (of === 'token') {
    // The search index may be forged as well, so only a rebuild repairs a token's row. Threat: an attacker adds a
    // generation and marks it as the one to read. The vault has no key for it.
    const { read } = await generations.inUse();
    return generation !== null && read !== generation && (await keys.generations()).includes(read);
  }
  if (of === 'generation') return !(await generations.inUse()).write.includes(Number(name));
  if (of === 'claim') {
    // Threat: an attacker adds a claim right before the forged one. Such a claim is not authentic either.
    const prefix = name.slice(0, -1);
    const [next] = await claims.page(prefix, 1);
    return next === undefined || !next.cmd.startsWith(prefix) || next.claim !== null;
  }
  // Throws ForgedRow if the row is still forged.
  if ((await directory.get(of, name)) !== null) return true;
  // Threat: an attacker removes the forged row. The key store has a revision for every row that the vault wrote.
  return (await keys.directoryRevisions([{ kind: of, id: name }])).size === 0;
}
