import { randomBytes } from 'node:crypto';
import type { mongoRowWriter, RowWrite } from '#src/adapters/mongodb/token-rows/row-writer.js';
import type { TokenType } from '#src/domain/token/types/token-type.js';
import type { NewEvent } from '#src/events/event.js';
import { type Stored, withTokenMac } from '#src/views/row-mac.js';
import type { TokenView } from '#src/views/token-view.js';
import { aBox, aHash, aStream, macKey, tokenWrite } from '../../contract/support.js';

/** A live row with the fields that searches use. Times are in ms since the epoch. */
export type SampleRow = {
  readonly stream: string;
  readonly tenantId: string;
  readonly seq: number;
  readonly terms: readonly string[];
  readonly createdAt: number;
  readonly modifiedAt: number | null;
  readonly expiresAt: number | null;
  readonly type: TokenType;
};

/** Applies the events to the view, and returns the new view. */
export function after(view: TokenView, ...events: readonly NewEvent[]): Stored<TokenView> {
  return tokenWrite(view, events).view;
}

export function aTerm(): string {
  return randomBytes(16).toString('hex');
}

export function aRow(given: Partial<SampleRow> = {}): SampleRow {
  return {
    stream: aStream(),
    tenantId: 'tenant',
    seq: 0,
    terms: [],
    createdAt: 0,
    modifiedAt: null,
    expiresAt: null,
    type: 'card' as const,
    ...given,
  };
}

/** Returns the write that stores a revision of the row. The default is the first revision. */
export function rowWrite({ stream, tenantId, seq, terms, type, ...times }: SampleRow, revision = 0): RowWrite {
  const life = {
    tenantId,
    tokenType: type,
    createdRevision: 0,
    createdPosition: seq,
    createdBy: 'actor',
    modifiedBy: null,
    ...times,
    key: aHash().slice(0, 32),
    contentRevision: 0,
    superseded: [],
    cvc: null,
  };
  const view = { stream, tenantId, state: { revision, life, ended: [] }, content: aBox(), cvc: null };
  return {
    view: withTokenMac(macKey, view),
    index: { fingerprintHash: aHash(), terms: { 1: terms } },
    before: revision - 1,
    at: 0,
  };
}

export async function writeRows(writer: ReturnType<typeof mongoRowWriter>, rows: readonly SampleRow[]): Promise<void> {
  for (let from = 0; from < rows.length; from += 1_000) {
    await writer.writeMany(rows.slice(from, from + 1_000).map((row) => rowWrite(row)));
  }
}
