import { randomBytes } from 'node:crypto';
import { copyFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { verifyVault } from '#src/cli/audit/run-verify.js';
import { issueKey, revokeKey } from '#src/commands/tenancy/api-keys.js';
import { type EmbeddedOptions, openEmbedded } from '#src/compose/embedded/embedded.js';
import { apiKeyHash, newApiKey } from '#src/domain/tenancy/api-key.js';
import { behindTriggers } from '../support/behind-triggers.js';
import { copyOf } from '../support/process.js';
import { profile } from '../support/profile.js';
import { startTestService, type TestService } from '../support/test-service.js';
import { operate } from './operate.js';
import { type Row, relinked, renumbered, tamper } from './tampering.js';

const rootKey = randomBytes(32);
let dataDir: string;
let service: TestService;
let publicKey: string;

beforeEach(async () => {
  if (profile !== 'embedded') return;
  dataDir = mkdtempSync(join(tmpdir(), 'strongroom-forged-'));
  service = await startTestService({ dataDir, rootKey });
  publicKey = (await service.vault.keys.signingKey()).publicKey;
});

afterEach(() => {
  if (profile === 'embedded') rmSync(dataDir, { recursive: true, force: true });
});

const create = (id: string) => service.call('POST', '/tokens', { type: 'token', id, data: `data of ${id}` });
const sign = () => service.service.checkpointer.run('grown');

function open(options: Partial<EmbeddedOptions> = {}) {
  const fail = (error: unknown) => {
    throw error;
  };
  const parts = { rootKey, mode: 'any', cvcRetentionMs: 3_600_000, onError: fail, onBroken: fail } as const;
  return openEmbedded({ ...parts, dataDir, ...options });
}

/** Opens the vault. Returns the error message if the vault refuses to start. Otherwise, returns `started`. */
async function start(): Promise<string> {
  try {
    await (await open()).close();
    return 'started';
  } catch (error) {
    return error instanceof Error ? error.message : 'failed';
  }
}

/** Returns the problem reported by `audit verify --public-key`, or null if the command finds no problem. */
async function verified(): Promise<string | null> {
  const opened = await open({ acceptsOlderLog: true });
  try {
    const options = { from: 1, to: null, anchor: null, publicKey, json: false };
    const { problem } = await verifyVault((name, input) => operate(opened, name, input), options);
    return problem?.message ?? null;
  } finally {
    await opened.close();
  }
}

const isCheckpoint = ({ type }: Row) => type === 'audit.checkpoint';

/** Returns an event without content. An attacker with write access to the file could forge such an event. */
function padding(like: Row, index: number): Row {
  const clear = '{}';
  const stream = `padding-${index}`;
  const place = { stream, revision: 0, commit_first: 0, type: 'test.happened', tenant: '', clear };
  return { ...like, ...place, id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}` };
}

describe.skipIf(profile !== 'embedded')('an attacker who can write only to the log', () => {
  test('cannot sign a changed history by removing the last checkpoint, changing an event, recomputing all links and padding the log', async () => {
    for (const id of ['one', 'two', 'three']) await create(id);
    await sign();
    for (const id of ['four', 'five']) await create(id);
    await sign();
    await create('six');
    await service.stop();
    tamper(dataDir, (rows) => {
      const last = rows.findLast(isCheckpoint);
      const kept = rows.filter((row) => row !== last);
      const signed = kept.findLast(
        ({ type, position }) => type === 'token.created' && position < (last?.position ?? 0),
      );
      const changed = kept.map((row) =>
        row === signed ? { ...row, actor: 'somebody', time: row.time - 60_000 } : row,
      );
      const single = changed.filter(({ type }) => type === 'token.created');
      const like = single[0];
      if (like === undefined || last === undefined) throw new Error('there are tokens and checkpoints');
      const padded = [
        ...changed,
        ...Array.from({ length: rows.length - changed.length }, (_, at) => padding(like, at)),
      ];
      return relinked(renumbered(padded));
    });
    expect(await verified()).toContain('the log does not continue from checkpoint 2');
    expect(await start()).toMatch(/changed the log.*audit verify/);
  });

  test('cannot replace the signed history with a longer one that a copy of the vault signed', async () => {
    const copy = mkdtempSync(join(tmpdir(), 'strongroom-forged-'));
    onTestFinished(() => rmSync(copy, { recursive: true }));
    await create('one');
    await sign();
    await service.stop();
    cpSync(dataDir, copy, { recursive: true });
    for (const [dir, ids] of [
      [dataDir, ['two']],
      [copy, ['three', 'four', 'five', 'six', 'seven', 'eight']],
    ] as const) {
      service = await startTestService({ dataDir: dir, rootKey, clock: service.clock });
      for (const id of ids) expect((await create(id)).status).toBe(201);
      await sign();
      await service.stop();
    }
    cpSync(copy, dataDir, { recursive: true, filter: (file) => !file.endsWith('keys.db') });
    expect(await verified()).toContain('the log does not continue from checkpoint');
    expect(await start()).toMatch(/changed the log.*audit verify/);
  });

  test('cannot issue an API key by adding an event and recomputing the chain', async () => {
    const key = newApiKey('private', (max) => randomBytes(4).readUInt32BE() % max);
    await create('one');
    await service.stop();
    tamper(dataDir, (rows) => {
      const issued = rows.findLast(({ type }) => type === 'application.key.issued');
      const changed = rows.map((row) => {
        if (row !== issued) return row;
        return { ...row, clear: JSON.stringify({ ...JSON.parse(row.clear), key_hash: apiKeyHash(key) }) };
      });
      return relinked(changed);
    });
    expect(await start()).toMatch(/changed the log/);
    // The vault ignores the forged event even if the operator accepted the older log.
    const opened = await open({ acceptsOlderLog: true });
    await expect(opened.projections.rebuild('directory', true)).rejects.toThrow('no valid authentication code');
    expect(await opened.authenticate(key)).toBeNull();
    await opened.close();
  });

  test('cannot add an event after the last event that the vault signed', async () => {
    await create('one');
    await sign();
    await service.stop();
    tamper(dataDir, (rows) => {
      const like = rows.find(({ type }) => type === 'token.created');
      if (like === undefined) throw new Error('there is a token');
      return relinked(renumbered([...rows, padding(like, 1)]));
    });
    expect(await verified()).toContain('no valid authentication code');
    expect(await start()).toMatch(/changed the log/);
    // The verification must not make the key store record the forged log. Otherwise, the log without the event would be
    // rejected from now on.
    tamper(dataDir, (rows) => rows.slice(0, -1));
    expect(await start()).toBe('started');
  });

  test('cannot hide a change by making the plaintext part invalid JSON', async () => {
    await create('one');
    await service.stop();
    tamper(dataDir, (rows) =>
      rows.map((row, index) => (index === rows.length - 1 ? { ...row, clear: '{"key":' } : row)),
    );
    expect(await start()).toMatch(/changed the log/);
  });

  test('cannot remove an event that is not signed yet, or swap two of them', async () => {
    await sign();
    for (const id of ['one', 'two', 'three']) await create(id);
    await service.stop();
    const backup = `${dataDir}.intact`;
    cpSync(dataDir, backup, { recursive: true });
    onTestFinished(() => rmSync(backup, { recursive: true }));
    const changes: ((rows: Row[]) => Row[])[] = [
      (rows) => rows.filter((row) => row !== rows.find(({ type }) => type === 'token.created')),
      (rows) => [...rows.slice(0, -3), ...rows.slice(-3).reverse()],
    ];
    for (const change of changes) {
      cpSync(backup, dataDir, { recursive: true });
      tamper(dataDir, (rows) => relinked(renumbered(change(rows))));
      expect(await start()).toMatch(/changed the log|behind its keys/);
      expect(await verified()).not.toBeNull();
    }
    cpSync(backup, dataDir, { recursive: true });
    expect(await start()).toBe('started');
  });

  test('cannot remove one event of a commit, although the commit’s code and link stay valid', async () => {
    await create('one');
    await service.stop();
    tamper(dataDir, (rows) => {
      const first = rows.find(({ commit_digests: digests, link }) => digests !== null && link === null);
      if (first === undefined) throw new Error('there is a commit with several events');
      return rows.filter((row) => row !== first);
    });
    expect(await start()).toMatch(/changed the log/);
    expect(await verified()).not.toBeNull();
  });

  test('cannot restore an older log if the vault was killed right after a key was revoked', async () => {
    const { vault, tenantId } = service;
    const applicationId = (await vault.directory.list('application'))[0]?.id ?? '';
    const context = { tenantId, actor: { kind: 'operator' }, traceId: null } as const;
    const issued = await issueKey(vault, context, applicationId, null);
    if (!issued.ok) throw new Error('the operator may issue a key');
    const older = mkdtempSync(join(tmpdir(), 'strongroom-forged-'));
    onTestFinished(() => rmSync(older, { recursive: true }));
    // The attacker restores the older journal too. If the newer journal were still in place, the vault would recover
    // the missing changes from it.
    const files = ['vault.db', 'journal.db'];
    for (const file of files) {
      const copy = pinStatements(join(dataDir, file), { readonly: true });
      copy.prepare('VACUUM INTO ?').run(join(older, file));
      copy.close();
    }
    expect((await revokeKey(vault, context, applicationId, issued.value.key.id)).ok).toBe(true);
    // Copies the files while the service still runs, so the copies look as if the service had been killed.
    const killed = copyOf(dataDir);
    await service.stop();
    rmSync(dataDir, { recursive: true });
    cpSync(killed, dataDir, { recursive: true });
    for (const file of files) {
      copyFileSync(join(older, file), join(dataDir, file));
      for (const suffix of ['-wal', '-shm']) writeFileSync(join(dataDir, file + suffix), '');
    }
    expect(await start()).toMatch(/the log is behind its keys/);
  });
});

describe.skipIf(profile !== 'embedded')('an attacker who can write only to the keys', () => {
  test('cannot make the vault continue its checkpoints with a new signing key by removing the old one', async () => {
    await create('one');
    await sign();
    await service.stop();
    const keys = pinStatements(join(dataDir, 'keys.db'), {});
    const remove = keys.prepare(`DELETE FROM tenant_keys WHERE purpose = 'audit-signing'`);
    behindTriggers(keys, () => expect(remove.run().changes).toBe(1));
    keys.close();
    expect(await start()).toMatch(/changed the log/);
  });
});

describe.skipIf(profile !== 'embedded')('a log that is changed while the service runs', () => {
  test('is not signed, and the service reports the change', async () => {
    await create('one');
    await sign();
    await create('two');
    const database = pinStatements(join(dataDir, 'vault.db'), {});
    const newest = 'position = (SELECT max(position) FROM events)';
    behindTriggers(database, () => database.exec(`UPDATE events SET actor = 'somebody' WHERE ${newest}`));
    database.close();
    await expect(service.service.checkpointer.run('grown')).rejects.toThrow('no valid authentication code');
    const answer = await service.call('GET', '/tokens/two/history');
    expect([answer.status, answer.body['code']]).toEqual([500, 'internal']);
    expect(answer.text).not.toContain('authentication');
    expect((await service.service.state()).reasons.join()).toContain('the log was changed from outside');
    // The token's row is authentic, so the token can still be erased.
    expect((await service.call('DELETE', '/tokens/two')).status).toBe(204);
    expect((await service.call('GET', '/tokens/two')).status).toBe(404);
    await service.stop();
  });

  test('is not signed if only the newest link was changed', async () => {
    await create('one');
    await sign();
    await create('two');
    const database = pinStatements(join(dataDir, 'vault.db'), {});
    const newest = 'position = (SELECT max(position) FROM events)';
    behindTriggers(database, () => database.exec(`UPDATE events SET link = randomblob(32) WHERE ${newest}`));
    database.close();
    await expect(sign()).rejects.toThrow('the links of the log do not match its events');
    await service.stop();
  });
});
