import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { JsonObject } from '#src/domain/json.js';
import { eventLink, noLink } from '#src/events/audit/event-link.js';

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
  chain: Buffer;
  trace: Buffer | null;
  content: Buffer | null;
  cvc: Buffer | null;
};

/** Rewrites the events of a vault as somebody would who may write to its file: without the triggers, row by row. */
export function tamper(dataDir: string, change: (rows: Row[]) => Row[]): void {
  const database = new Database(join(dataDir, 'vault.db'));
  try {
    const triggers = ['events_are_never_changed', 'events_are_never_removed'];
    for (const trigger of triggers) database.exec(`DROP TRIGGER ${trigger}`);
    const rows = database.prepare('SELECT * FROM events ORDER BY position').all() as Row[];
    const changed = change(rows);
    database.exec('DELETE FROM events');
    for (const row of changed) {
      const columns = Object.keys(row);
      const places = columns.map(() => '?').join(', ');
      database.prepare(`INSERT INTO events (${columns.join(', ')}) VALUES (${places})`).run(...Object.values(row));
    }
  } finally {
    database.close();
  }
}

/** The rows numbered anew, as if none had ever been between or besides them. */
export function renumbered(rows: readonly Row[]): Row[] {
  return rows.map((row, index) => ({ ...row, position: index + 1 }));
}

/** The rows with links that fit them. */
export function relinked(rows: readonly Row[]): Row[] {
  let chain: Uint8Array = noLink;
  return rows.map((row) => {
    const { tenant: tenantId, actor: actorId, clear, content, cvc, ...rest } = row;
    const event = { ...rest, tenantId, actorId, clear: JSON.parse(clear) as JsonObject, sealed: { content, cvc } };
    chain = eventLink(chain, event);
    return { ...row, chain: Buffer.from(chain) };
  });
}
