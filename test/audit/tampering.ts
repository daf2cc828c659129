import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { packStream, streamName } from '#src/adapters/sqlite/database/packed-text.js';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import type { JsonObject } from '#src/domain/json.js';
import { type Checkpoint, checkpointHash, signedBytes } from '#src/events/audit/checkpoint.js';
import { linkAfter, noLink, sealCommit } from '#src/events/commit.js';
import type { SigningKey } from '#src/keys/key-ring.js';
import { behindTriggers } from '../support/behind-triggers.js';

export type Row = {
  position: number;
  stream: string;
  revision: number;
  id: string;
  type: string;
  version: number;
  tenant: string;
  actor: string;
  time: number;
  cmd: string | null;
  clear: string;
  commit_first: number;
  commit_digests: Buffer | null;
  sealed_hash: Buffer;
  mac: Buffer;
  number: number | null;
  link: Buffer | null;
  trace: Buffer | null;
  content: Buffer | null;
  cvc: Buffer | null;
};

/** Reads all events. */
export function eventRows(database: ReturnType<typeof pinStatements>): Row[] {
  const rows = database.prepare(`SELECT *, ${streamName('stream')} AS name FROM events ORDER BY position`).all();
  return (rows as (Row & { name: string })[]).map(({ name, ...row }) => ({ ...row, stream: name }));
}

/**
 * Rewrites a vault's events row by row, as an attacker with write access to the file would. The triggers in the file do
 * not prevent this.
 */
export function tamper(dataDir: string, change: (rows: Row[]) => Row[]): void {
  const database = pinStatements(join(dataDir, 'vault.db'), {});
  try {
    const changed = change(eventRows(database));
    behindTriggers(database, () => {
      database.exec('DELETE FROM events');
      for (const row of changed) {
        const columns = Object.keys(row);
        const places = columns.map(() => '?').join(', ');
        database
          .prepare(`INSERT INTO events (${columns.join(', ')}) VALUES (${places})`)
          .run(...Object.values({ ...row, stream: packStream(row.stream) }));
      }
    });
  } finally {
    database.close();
  }
}

/** Renumbers the rows and their commits so that no gap remains. */
export function renumbered(rows: readonly Row[]): Row[] {
  let commits = 0;
  return rows.map((row, index) => {
    if (row.link === null) return { ...row, position: index + 1 };
    commits += 1;
    return { ...row, position: index + 1, number: commits };
  });
}

/**
 * Recomputes everything in the rows that can be computed without a key: hashes, digests and links. Leaves the MACs
 * unchanged.
 */
export function relinked(rows: readonly Row[]): Row[] {
  let link: Uint8Array = noLink;
  return commitsOf(rows).flatMap((commit, commits) => {
    const [first] = commit;
    const noKey = randomBytes(32);
    const events = commit.map(({ tenant: tenantId, actor: actorId, clear, content, cvc, ...row }) => ({
      ...row,
      tenantId,
      actorId,
      clear: JSON.parse(clear) as JsonObject,
      sealed: { content, cvc },
    }));
    const sealed = sealCommit(noKey, first?.stream ?? '', (first?.commit_first ?? 0) - 1, events);
    link = linkAfter(link, sealed.leaf);
    return commit.map((row, index): Row => {
      const { digests, sealedHash } = sealed.events[index]?.proof ?? { digests: null, sealedHash: Buffer.of() };
      const hashes = {
        commit_digests: digests === null ? null : Buffer.from(digests),
        sealed_hash: Buffer.from(sealedHash),
      };
      const isLast = index === commit.length - 1;
      return { ...row, ...hashes, number: isLast ? commits + 1 : null, link: isLast ? Buffer.from(link) : null };
    });
  });
}

/** Changes a checkpoint and signs it again with the vault's own key. */
export function resigned({ sign }: SigningKey, checkpoint: Checkpoint, change: Partial<Checkpoint>): Checkpoint {
  const changed = { ...checkpoint, ...change };
  return { ...changed, signature: sign(signedBytes(checkpointHash(changed))).toString('base64') };
}

function commitsOf(rows: readonly Row[]): readonly Row[][] {
  const commits: Row[][] = [];
  for (const row of rows) {
    const last = commits.at(-1)?.at(-1);
    if (last !== undefined && last.link === null && last.stream === row.stream) commits.at(-1)?.push(row);
    else commits.push([row]);
  }
  return commits;
}
