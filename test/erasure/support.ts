import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { tokenStream } from '#src/events/tokens/stream-name.js';
import { withTokenMac } from '#src/views/row-mac.js';
import { applyToView } from '#src/views/token-view.js';
import { behindTriggers } from '../support/behind-triggers.js';
import { profile } from '../support/profile.js';
import type { TestService } from '../support/test-service.js';
import { countBytes, filesOf, type WrappedKey, wrappedKeys } from './files.js';

export const anHour = 3_600_000;

export function aCard(cvc: string | null = '123', further: object = {}) {
  const data = { number: '4242424242424242', expiration_month: 12, expiration_year: 2031 };
  return { type: 'card', data: cvc === null ? data : { ...data, cvc }, ...further };
}

export async function create(service: TestService, body: object): Promise<string> {
  const created = await service.call('POST', '/tokens', body);
  expect(created.status, created.text).toBe(201);
  return String(created.body['id']);
}

export async function streamOf(service: TestService, id: string, tenantId = service.tenantId): Promise<string> {
  const keys = await service.vault.keys.tenantKeys(tenantId);
  if (keys === null) throw new Error('the tenant has no keys');
  return tokenStream(keys.names, id);
}

/**
 * Returns the ids of all keys in a token's events, in the order of the events. The ids of content keys and of cvc keys
 * are in separate lists.
 */
export async function keyIdsOf(service: TestService, id: string) {
  const events = await service.vault.log.readStream(await streamOf(service, id));
  const named = (part: string) => [
    ...new Set(events.map(({ clear }) => clear[part]).filter((keyId) => typeof keyId === 'string')),
  ];
  return { content: named('key'), cvc: named('cvc_key') };
}

/**
 * Returns the wrapped bytes of a token's keys. Fails if a key is destroyed, or if no file contains its bytes. For many
 * tokens, pass the files, because reading them takes long on a busy machine.
 */
export async function wrappedKeysOf(service: TestService, id: string, files = filesOf(service.dataDir)) {
  const { content, cvc } = await keyIdsOf(service, id);
  const all = wrappedKeys(service.dataDir);
  const wrapped = (keyId: string): WrappedKey => {
    const key = all.get(keyId);
    if (key === undefined || key.destroyed) throw new Error(`the key ${keyId} is not there to be watched`);
    expect(countBytes(files, key.wrapped), 'the search must find a living key').toBeGreaterThan(0);
    return key;
  };
  return { content: content.map(wrapped), cvc: cvc.map(wrapped) };
}

/** Opens a second connection to the file, as another process would. */
export function openReader(dataDir: string, file: 'keys.db' | 'vault.db' = 'keys.db') {
  const database = pinStatements(join(dataDir, file), { readonly: true });
  return {
    /** Reads once, without leaving a snapshot open. */
    look: () => database.prepare('SELECT count(*) FROM sqlite_schema').get(),
    /** Opens a long-lived snapshot. */
    hold(): void {
      database.exec('BEGIN');
      database.prepare(`SELECT * FROM ${file === 'keys.db' ? 'data_keys' : 'events'} LIMIT 1`).get();
    },
    close: () => database.close(),
  };
}

/** Copies files of a stopped service to a new folder. */
export async function copyOf(dataDir: string, names: readonly string[] = ['vault.db', 'keys.db']): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-copy-'));
  for (const name of names) execFileSync('cp', [join(dataDir, name), join(folder, name)]);
  return folder;
}

/** Runs a statement on the file of a stopped service, and returns the number of changed rows. */
export function tamper(dataDir: string, file: 'keys.db' | 'vault.db', statement: string, ...values: unknown[]): number {
  const database = pinStatements(join(dataDir, file), {});
  try {
    return database.prepare(statement).run(...values).changes;
  } finally {
    database.close();
  }
}

/** Like `tamper`, but for tables that triggers protect. */
export function tamperBehindTriggers(dataDir: string, file: 'keys.db' | 'vault.db', statement: string): number {
  const database = pinStatements(join(dataDir, file), {});
  try {
    return behindTriggers(database, () => database.prepare(statement).run().changes);
  } finally {
    database.close();
  }
}

export function keyIdBytes(keyId: string): Buffer {
  return Buffer.from(keyId.replaceAll('-', ''), 'hex');
}

/**
 * Creates and deletes a token, but does not destroy its keys. A crash between the deletion and the destruction of the
 * keys would leave this state.
 */
export async function deletedWithLivingKeys(service: TestService) {
  const { vault, clock, tenantId } = service;
  const id = await create(service, aCard());
  const { content, cvc } = await keyIdsOf(service, id);
  // Only the embedded profile has files that a test can search for the bytes.
  const wrapped = profile === 'embedded' ? await wrappedKeysOf(service, id) : { content: [], cvc: [] };
  const stream = await streamOf(service, id);
  const row = await vault.rows.get(stream);
  const life = row?.state.life;
  if (row === null || life == null) throw new Error('the token is not there');
  const event = {
    id: randomUUID(),
    type: 'token.deleted',
    version: 1,
    tenantId,
    actorId: 'other-actor',
    time: clock.now(),
    cmd: null,
    trace: null,
    clear: { reason: 'request', ends: [life.key, String(life.cvc?.key)] },
    sealed: { content: null, cvc: null },
  };
  const after = applyToView(row, { ...event, stream, revision: row.state.revision + 1, position: 0 });
  const write = {
    stream,
    expectedRevision: row.state.revision,
    events: [event],
    distinct: null,
    row: { of: 'token', view: withTokenMac(vault.integrity.rows, after), index: 'keep' } as const,
  };
  expect(await vault.work.commit({ writes: [write], claim: null })).toEqual({ outcome: 'committed' });
  return { id, keyIds: [...content, ...cvc], keys: [...wrapped.content, ...wrapped.cvc] };
}
