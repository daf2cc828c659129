import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { appendFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { fileAnchor } from '#src/adapters/anchor/file-anchor.js';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { exportLog } from '#src/cli/audit/run-export.js';
import { type Verification, type VerifyOptions, verifyExport, verifyVault } from '#src/cli/audit/run-verify.js';
import { verificationText } from '#src/cli/audit/verification-text.js';
import type { RunOperation } from '#src/cli/run-command.js';
import { openEmbedded } from '#src/compose/embedded/embedded.js';
import { batchHash } from '#src/events/access-log/batch-hash.js';
import {
  type Checkpoint,
  checkpointClear,
  checkpointLine,
  readCheckpointLine,
  treeOf,
} from '#src/events/audit/checkpoint.js';
import { treeRoot } from '#src/events/audit/merkle.js';
import type { SigningKey } from '#src/keys/key-ring.js';
import { behindTriggers } from '../support/behind-triggers.js';
import { profile } from '../support/profile.js';
import { startTestService } from '../support/test-service.js';
import { operate } from './operate.js';
import { eventRows, type Row, relinked, renumbered, resigned, tamper } from './tampering.js';

const rootKey = randomBytes(32);
const usual: VerifyOptions = { from: 1, to: null, anchor: null, publicKey: null, json: false };
let home: string;
let intact: string;
let anchorFile: string;
/** The rows of the log before any tampering. */
let rows: readonly Row[];
let signingKey: SigningKey;

/**
 * Creates a log with five tokens, an update, a read, a delete, two checkpoints, and an event after the second
 * checkpoint.
 */
beforeAll(async () => {
  if (profile !== 'embedded') return;
  home = mkdtempSync(join(tmpdir(), 'strongroom-verify-'));
  intact = join(home, 'intact');
  anchorFile = join(home, 'anchor.jsonl');
  const service = await startTestService({ dataDir: intact, rootKey, anchor: fileAnchor(anchorFile) });
  const create = async (id: string) => {
    await service.call('POST', '/tokens', { type: 'token', id, data: `data of ${id}` });
  };
  const sign = async () => {
    await service.vault.recorder.now([]);
    await service.service.checkpointer.run('grown');
  };
  for (const id of ['one', 'two', 'three']) await create(id);
  await service.call('PATCH', '/tokens/one', { metadata: { a: 'b' } });
  await sign();
  await service.call('GET', '/tokens/two');
  await create('four');
  await service.call('DELETE', '/tokens/two');
  await sign();
  await create('five');
  signingKey = await service.vault.keys.signingKey();
  await service.stop();
  const database = pinStatements(join(intact, 'vault.db'), { readonly: true });
  rows = eventRows(database);
  database.close();
});

afterAll(() => {
  if (profile === 'embedded') rmSync(home, { recursive: true });
});

function copied(): string {
  const dir = mkdtempSync(join(tmpdir(), 'strongroom-verify-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  cpSync(intact, dir, { recursive: true });
  return dir;
}

async function withVault<T>(dataDir: string, use: (run: RunOperation) => Promise<T>): Promise<T> {
  const fail = (error: unknown) => {
    throw error;
  };
  const parts = { rootKey, mode: 'any', cvcRetentionMs: 3_600_000, onError: fail, onBroken: fail } as const;
  const acceptsOlderLog = true;
  const service = await openEmbedded({ ...parts, dataDir, acceptsOlderLog });
  try {
    return await use((name, input) => operate(service, name, input));
  } finally {
    await service.close();
  }
}

const verify = (dataDir: string, options: Partial<VerifyOptions> = {}): Promise<Verification> =>
  withVault(dataDir, (run) => verifyVault(run, { ...usual, ...options }));

async function problemAfter(change: (rows: Row[]) => Row[], options: Partial<VerifyOptions> = {}) {
  const dataDir = copied();
  tamper(dataDir, change);
  return (await verify(dataDir, options)).problem;
}

const typed = (type: string, nth = 0): Row => {
  const found = rows.filter((row) => row.type === type)[nth];
  if (found === undefined) throw new Error(`no ${type}`);
  return { ...found };
};
const changed = (change: (row: Row) => Partial<Row>) => (all: Row[]) =>
  all.map((row) => (row.position === typed('token.updated').position ? { ...row, ...change(row) } : row));
/** Returns the checkpoints that the anchor holds. */
function anchored(): [one: Checkpoint, two: Checkpoint] {
  const [one, two] = readFileSync(anchorFile, 'utf8').split('\n').map(readCheckpointLine);
  if (one == null || two == null) throw new Error('the anchor holds two checkpoints');
  return [one, two];
}
const without = (gone: (row: Row) => boolean) => (all: Row[]) => all.filter((row) => !gone(row));

/** Replaces the newest commit of the tree. */
function otherTree({ count, peaks }: Checkpoint): Partial<Checkpoint> {
  return treeFields(count, [...peaks.slice(0, -1), 'f'.repeat(64)]);
}

/** Removes the newest commit from the tree. */
function otherCount({ count, peaks }: Checkpoint): Partial<Checkpoint> {
  if (count % 2 === 0) throw new Error('the newest commit must be a peak of its own');
  return treeFields(count - 1, peaks.slice(0, -1));
}

function treeFields(count: number, peaks: readonly string[]): Partial<Checkpoint> {
  const tree = { count, peaks: [...peaks] };
  return { ...tree, root: Buffer.from(treeRoot(treeOf(tree))).toString('hex') };
}

describe.skipIf(profile !== 'embedded')('a verification', () => {
  test('of an intact vault reports how much of the log is proven, and claims no more', async () => {
    const verification = await verify(intact);
    expect(verification.problem).toBeNull();
    expect(verification.log).toMatchObject({ events: rows.length, linked: rows.length, proven: { number: 2 } });
    expect(verification.access?.batches).toBeGreaterThan(0);
    const text = verificationText(verification);
    expect(text).toMatch(/^complete up to checkpoint 2 .*, according to this store alone$/m);
    expect(text).toContain('later commits are linked but not signed yet');
    const anchored = await verify(intact, { anchor: anchorFile });
    expect(anchored).toMatchObject({ problem: null, anchored: 2 });
  });

  test('of part of the log begins at the preceding checkpoint, and ends at the given position', async () => {
    const last = typed('token.created', 4);
    const { log, problem } = await verify(intact, { from: last.position });
    expect(problem).toBeNull();
    expect(log.events).toBeLessThan(rows.length);
    expect((await verify(intact, { to: last.position - 1 })).log.events).toBe(last.position - 1);
    for (const range of [{ from: 10_000 }, { to: 10_000 }]) {
      await expect(verify(intact, range)).rejects.toThrow('after the end of the log');
    }
  });

  test.each<[string, (row: Row) => Partial<Row>]>([
    ['tenant', () => ({ tenant: 'other' })],
    ['actor', () => ({ actor: 'other' })],
    ['time', ({ time }) => ({ time: time + 1 })],
    ['type', () => ({ type: 'token.deleted' })],
    ['version', () => ({ version: 2 })],
    ['stream', () => ({ stream: `token-${'0'.repeat(64)}` })],
    ['plaintext part', ({ clear }) => ({ clear: clear.replace('metadata', 'data') })],
    ['content', ({ content }) => ({ content: Buffer.concat([content ?? Buffer.of(), Buffer.of(0)]) })],
    ['trace', () => ({ trace: null })],
    ['id', () => ({ id: randomUUID() })],
    ['link', () => ({ link: randomBytes(32) })],
  ])('names the event whose %s was changed', async (_, change) => {
    const problem = await problemAfter(changed(change));
    expect(problem).toMatchObject({ kind: 'changed', position: typed('token.updated').position });
  });

  test('names what is missing, even if the remaining events are renumbered', async () => {
    const { position } = typed('token.created', 1);
    const gone = without((row) => row.position === position);
    const missing = await problemAfter(gone);
    expect(missing).toMatchObject({ kind: 'missing', position: position + 1 });
    expect(missing?.message).toContain('1 commit is missing');
    const skipped = await problemAfter(changed(({ number }) => ({ number: Number(number) + 1 })));
    expect(skipped).toMatchObject({ kind: 'missing', position: typed('token.updated').position });
    const closed = await problemAfter((all) => renumbered(gone(all)));
    expect(closed).toMatchObject({ kind: 'changed', position });
    expect(closed?.message).toContain('removed');
  });

  test('names the position at which a whole stream was removed', async () => {
    const { stream, position } = typed('token.created', 0);
    const problem = await problemAfter(without((row) => row.stream === stream));
    expect(problem).toMatchObject({ kind: 'missing', position: position + 1 });
  });

  test('detects that the first event is missing', async () => {
    const first = await problemAfter((all) => relinked(renumbered(all.slice(1))));
    expect(first).toMatchObject({ kind: 'missing', position: 1 });
  });

  test('names two swapped events', async () => {
    const { position } = typed('token.created', 1);
    const problem = await problemAfter((all) =>
      all.map((row) => {
        if (row.position === position) return { ...row, position: position + 1 };
        return row.position === position + 1 ? { ...row, position } : row;
      }),
    );
    expect(problem).toMatchObject({ kind: 'reordered', position });
  });

  test.each(['random', 'recomputed'])('names an inserted event whose link is %s', async (link) => {
    const { position } = typed('token.created', 2);
    const problem = await problemAfter((all) => {
      const forged = { ...typed('token.created', 2), id: randomUUID(), stream: `token-${'f'.repeat(64)}` };
      const before = all.slice(0, position - 1);
      const made = relinked([...before, forged]).at(-1)?.link ?? Buffer.of();
      return renumbered([
        ...before,
        { ...forged, link: link === 'random' ? randomBytes(32) : made },
        ...all.slice(position - 1),
      ]);
    });
    expect(problem).toMatchObject({ kind: 'inserted', position });
  });

  test.each<[string, (all: Row[]) => Row[]]>([
    ['changed', changed(() => ({ actor: 'other' }))],
    ['removed', (all) => renumbered(without((row) => row.position === typed('token.created', 1).position)(all))],
    [
      'inserted',
      (all) => renumbered([...all.slice(0, 7), { ...typed('token.created'), stream: 'token-x' }, ...all.slice(7)]),
    ],
    ['exchanged', (all) => renumbered([...all.slice(0, 7), ...all.slice(7, 9).reverse(), ...all.slice(9)])],
  ])('names the checkpoint if an event was %s and all links were recomputed', async (_, change) => {
    const problem = await problemAfter((all) => relinked(change(all)));
    expect(problem?.kind).toBe('checkpoint');
    expect(problem?.message).toMatch(/and checkpoint 1 .*links were recomputed/);
  });

  test('detects a replaced signature and a removed checkpoint', async () => {
    const [one, two] = [typed('audit.checkpoint', 0), typed('audit.checkpoint', 1)];
    const [first, second] = [JSON.parse(one.clear), JSON.parse(two.clear)];
    const swapped = await problemAfter((all) =>
      relinked(
        all.map((row) => {
          if (row.position !== one.position) return row;
          return { ...row, clear: JSON.stringify({ ...first, signature: second.signature }) };
        }),
      ),
    );
    expect(swapped).toMatchObject({ kind: 'checkpoint', position: one.position });
    expect(swapped?.message).toContain('signature of checkpoint 1');
    const removed = await problemAfter((all) =>
      relinked(renumbered(without((row) => row.position === one.position)(all))),
    );
    expect(removed?.kind).toBe('checkpoint');
  });

  test('detects a truncated log with the key store or an anchor; without either, it makes no claim about the end', async () => {
    const cut = without((row) => row.position >= typed('audit.checkpoint', 1).position);
    const known = await problemAfter(cut);
    expect(known?.kind).toBe('cut_tail');
    expect(known?.message).toContain('the key store has recorded events after');
    const dataDir = copied();
    tamper(dataDir, cut);
    // Changes both files, as an attacker who can write to them could. A row that refers to a removed event would reveal
    // the change.
    const vault = pinStatements(join(dataDir, 'vault.db'), {});
    vault.exec('DELETE FROM token_rows_1 WHERE content_at NOT IN (SELECT position FROM events)');
    vault.close();
    const keys = pinStatements(join(dataDir, 'keys.db'), {});
    keys.exec(`DELETE FROM meta WHERE name IN ('log', 'log_memory', 'shredder')`);
    keys.close();
    expect((await verify(dataDir)).problem).toBeNull();
    const { problem } = await verify(dataDir, { anchor: anchorFile });
    expect(problem?.kind).toBe('cut_tail');
    expect(problem?.message).toContain('the anchor holds checkpoint 2');
  });

  test.each<[string, 1 | 2, (checkpoint: Checkpoint) => Partial<Checkpoint>, string]>([
    ['the id of another log', 1, () => ({ log_id: randomUUID() }), 'checkpoint 1 belongs to another log'],
    [
      'another log id than the one before it',
      2,
      () => ({ log_id: randomUUID() }),
      'checkpoint 2 belongs to another log',
    ],
    ['a number that is too high', 1, () => ({ number: 2 }), 'checkpoint 1 is missing before checkpoint 2'],
    ['a gap before its number', 2, () => ({ number: 3 }), 'checkpoint 2 is missing before checkpoint 3'],
    ['another predecessor', 2, () => ({ previous: 'f'.repeat(64) }), 'does not name the one before it'],
    ['another tree', 2, otherTree, 'and checkpoint 2 (position'],
    ['another number of commits', 2, otherCount, '1 commit more than it signed'],
  ])('detects a correctly signed checkpoint with %s', async (_, number, change, text) => {
    const event = typed('audit.checkpoint', number - 1);
    const checkpoint = anchored()[number - 1] as Checkpoint;
    const clear = JSON.stringify(checkpointClear(resigned(signingKey, checkpoint, change(checkpoint))));
    const problem = await problemAfter((all) =>
      relinked(all.map((row) => (row.position === event.position ? { ...row, clear } : row))),
    );
    expect(problem).toMatchObject({ kind: 'checkpoint', position: event.position });
    expect(problem?.message).toContain(text);
  });

  test('detects another history that the vault’s key signed, if the anchor holds the first one', async () => {
    const file = join(copied(), 'anchor.jsonl');
    const [one, two] = anchored();
    const other = resigned(signingKey, two, { time: two.time + 1 });
    writeFileSync(file, `${checkpointLine(one)}\n${checkpointLine(other)}\n`);
    const { problem } = await verify(intact, { anchor: file });
    expect(problem).toMatchObject({ kind: 'checkpoint', position: typed('audit.checkpoint', 1).position });
    expect(problem?.message).toBe('checkpoint 2 is not the one that the anchor holds');
  });

  test('rejects a log and an anchor that were signed with another key', async () => {
    const { publicKey } = generateKeyPairSync('ed25519');
    const other = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    expect((await verify(intact, { publicKey: other })).problem?.message).toContain('signed by another key');
    await expect(verify(intact, { publicKey: other, anchor: anchorFile })).rejects.toThrow('signed by another key');
  });

  test('accepts an anchor with a truncated line, and rejects an empty or contradictory one', async () => {
    const file = join(copied(), 'anchor.jsonl');
    writeFileSync(file, `${readFileSync(anchorFile, 'utf8')}{"strongroom_che\n`);
    expect(await verify(intact, { anchor: file })).toMatchObject({ problem: null, unreadableAnchorLines: 1 });
    writeFileSync(file, 'nothing\n');
    await expect(verify(intact, { anchor: file })).rejects.toThrow('contains no checkpoints');
    const [line] = readFileSync(anchorFile, 'utf8').split('\n');
    writeFileSync(file, `${line?.replace(/"time":\d+/, '"time":1')}\n`);
    await expect(verify(intact, { anchor: file })).rejects.toThrow('signature of checkpoint 1');
    const [one] = anchored();
    const later = resigned(signingKey, one, { time: one.time + 1 });
    writeFileSync(file, `${checkpointLine(one)}\n${checkpointLine(later)}\n`);
    await expect(verify(intact, { anchor: file })).rejects.toThrow('contains two different checkpoints');
    writeFileSync(file, `${checkpointLine(resigned(signingKey, one, { log_id: randomUUID() }))}\n`);
    await expect(verify(intact, { anchor: file })).rejects.toThrow('is the anchor of another log');
  });
});

describe.skipIf(profile !== 'embedded')('the access log', () => {
  function onAccess(dataDir: string, sql: string): void {
    const [file] = readdirSync(dataDir).filter((name) => /^access-.*\.db$/.test(name));
    const database = pinStatements(join(dataDir, file ?? ''), {});
    behindTriggers(database, () => database.exec(sql));
    database.close();
  }

  test.each([
    ['a changed entry', 'UPDATE entries SET time = time + 1 WHERE id = 2', 'was changed'],
    [
      'a missing batch',
      'DELETE FROM entries WHERE batch = 2; DELETE FROM batches WHERE sequence = 2',
      'does not follow',
    ],
    ['a truncated end', 'DELETE FROM entries WHERE batch > 1; DELETE FROM batches WHERE sequence > 1', 'was truncated'],
    [
      'a missing start',
      'DELETE FROM entries WHERE batch = 1; DELETE FROM batches WHERE sequence = 1',
      'does not follow',
    ],
    ['an empty log', 'DELETE FROM entries; DELETE FROM batches', 'lacks chain vault'],
  ])('%s is reported', async (_, sql, text) => {
    const dataDir = copied();
    onAccess(dataDir, sql);
    const { problem } = await verify(dataDir);
    expect(problem?.kind).toBe('access_log');
    expect(problem?.message).toContain(text);
  });
});

/** Returns the sequence number of the batch that checkpoint 2 signs. */
function signedSequence(): number {
  return anchored()[1].access[0]?.sequence ?? 0;
}

/** Changes a batch of the access log and recomputes its hash. */
function replacedBatch(accessLines: readonly string[], sequence: number): string[] {
  return accessLines.map((line) => {
    const { access } = JSON.parse(line);
    if (access.sequence !== sequence) return line;
    const lines = access.lines.map((text: string) => text.replace('"success"', '"denied"'));
    const hash = batchHash(Buffer.from(access.previous, 'hex'), access.sequence, lines).toString('hex');
    if (hash === access.hash) throw new Error(`nothing was replaced in ${line}`);
    return JSON.stringify({ access: { ...access, lines, hash } });
  });
}

/** Returns the only batch of another chain, as a line of an export. */
function lineOfOtherChain(): string {
  const previous = '0'.repeat(64);
  const hash = batchHash(Buffer.from(previous, 'hex'), 1, []).toString('hex');
  return JSON.stringify({ access: { chain: 'other', sequence: 1, previous, hash, lines: [] } });
}

describe.skipIf(profile !== 'embedded')('an export', () => {
  async function exported(options: { from?: number; to?: number } = {}): Promise<string> {
    const out = join(copied(), 'log.jsonl');
    const { from = 1, to = null } = options;
    await withVault(intact, (run) => exportLog(run, { from, to, out, json: false }));
    return out;
  }

  test('is verified from the file alone, as a whole or in part', async () => {
    const whole = await verifyExport(await exported(), { ...usual, anchor: anchorFile });
    expect(whole).toMatchObject({ problem: null, anchored: 2, log: { events: rows.length, proven: { number: 2 } } });
    expect(whole.access?.batches).toBeGreaterThan(1);
    const part = await verifyExport(await exported({ from: typed('token.created', 4).position }), usual);
    expect(part.problem).toBeNull();
    const start = await verifyExport(await exported({ to: 5 }), { ...usual, anchor: anchorFile });
    expect(start).toMatchObject({ problem: null, log: { events: 5, proven: null }, access: { batches: 0 } });
  });

  test('of part of the log contains the access log up to the batches that its checkpoints sign, and no more', async () => {
    const [one, two] = [typed('audit.checkpoint', 0), typed('audit.checkpoint', 1)];
    const signedBy = (row: Row) => JSON.parse(row.clear)['access'][0].sequence as number;
    const first = await verifyExport(await exported({ to: one.position }), usual);
    expect(first).toMatchObject({ problem: null, access: { chains: 1, batches: signedBy(one) } });
    const range = { from: one.position, to: two.position };
    const second = await verifyExport(await exported(range), usual);
    const batches = signedBy(two) - signedBy(one);
    expect(batches).toBeGreaterThan(0);
    expect(second).toMatchObject({ problem: null, log: { proven: { number: 2 } }, access: { chains: 1, batches } });
    expect(await verify(intact, range)).toMatchObject({ problem: null, access: { batches } });
  });

  test.each<[string, (accessLines: string[]) => string[], string]>([
    ['a changed batch', ([first, ...rest]) => [first?.replace('[\\"', '[\\"x') ?? '', ...rest], 'was changed'],
    ['a missing batch', ([first, , ...rest]) => [first ?? '', ...rest], 'does not follow'],
    ['a truncated end', ([first]) => [first ?? ''], 'was truncated'],
    ['a replaced batch', (lines) => replacedBatch(lines, 1), 'does not follow'],
    [
      'a replaced signed batch',
      (lines) => replacedBatch(lines, signedSequence()),
      'are not those that checkpoint 2 has signed',
    ],
    ['the absence', () => [], 'lacks chain vault'],
    [
      'a chain in two parts',
      (lines) => [...lines, lineOfOtherChain(), ...lines.slice(-1)],
      'chain vault of the access log is broken',
    ],
  ])('reports %s in the access log', async (_, change, text) => {
    const file = await exported();
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    const isAccess = (line: string) => line.startsWith('{"access"');
    const changedLines = [...lines.slice(0, -1).filter((line) => !isAccess(line)), ...change(lines.filter(isAccess))];
    const end = JSON.stringify({ strongroom_export_end: { lines: changedLines.length - 1 } });
    writeFileSync(file, `${[...changedLines, end].join('\n')}\n`);
    const { problem } = await verifyExport(file, usual);
    expect(problem?.kind).toBe('access_log');
    expect(problem?.message).toContain(text);
  });

  test('of part of the log does not begin with another checkpoint than the one among its events', async () => {
    const file = await exported({ from: typed('token.created', 4).position });
    const [first = '', ...rest] = readFileSync(file, 'utf8').split('\n');
    const header = JSON.parse(first);
    const { from } = header;
    const other = resigned(signingKey, from, { time: from.time + 1 });
    writeFileSync(file, [JSON.stringify({ ...header, from: other }), ...rest].join('\n'));
    const { problem } = await verifyExport(file, usual);
    expect(problem).toMatchObject({ kind: 'checkpoint', message: `checkpoint ${from.number} occurs twice` });
    writeFileSync(file, [JSON.stringify({ ...header, from: { ...from, time: from.time + 1 } }), ...rest].join('\n'));
    await expect(verifyExport(file, usual)).rejects.toThrow(`signature of checkpoint ${from.number}`);
  });

  test('cannot hide missing batches by a time in the future', async () => {
    const file = await exported();
    const [first = '', ...rest] = readFileSync(file, 'utf8').trimEnd().split('\n');
    const events = rest.slice(0, -1).filter((line) => !line.startsWith('{"access"'));
    const header = { ...JSON.parse(first), made_at: Date.UTC(9000, 0) };
    const end = JSON.stringify({ strongroom_export_end: { lines: events.length } });
    writeFileSync(file, `${[JSON.stringify(header), ...events, end].join('\n')}\n`);
    const { problem } = await verifyExport(file, usual);
    expect(problem).toMatchObject({ kind: 'access_log', message: expect.stringContaining('lacks chain vault') });
  });

  test('contains every event, and no values', async () => {
    const text = readFileSync(await exported(), 'utf8');
    expect(text).not.toContain('data of');
    for (const { id } of rows) expect(text).toContain(id);
  });

  test('that was tampered with is detected', async () => {
    const file = await exported();
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    const write = (changedLines: readonly string[]) => writeFileSync(file, `${changedLines.join('\n')}\n`);
    write(lines.map((line) => line.replace('"token.updated"', '"token.deleted"')));
    expect((await verifyExport(file, usual)).problem).toMatchObject({ kind: 'changed' });
    write(lines.slice(0, -1));
    await expect(verifyExport(file, usual)).rejects.toThrow('its end is missing');
    write([...lines.slice(0, 3), ...lines.slice(4)]);
    await expect(
      verifyExport(file, usual).then(({ problem }) => Promise.reject(new Error(problem?.message))),
    ).rejects.toThrow('missing');
    write([...lines.slice(0, 3), '{"position":', ...lines.slice(4)]);
    await expect(verifyExport(file, usual)).rejects.toThrow('damaged in line 4');
    write(lines.slice(1));
    await expect(verifyExport(file, usual)).rejects.toThrow('is not a log export');
    write([(lines[0] ?? '').replace(anchored()[0].log_id, randomUUID()), ...lines.slice(1)]);
    const other = await verifyExport(file, usual);
    expect(other.problem?.message).toContain('is not the first of this log');
    appendFileSync(file, '');
    await expect(verifyExport(join(home, 'nowhere'), usual)).rejects.toThrow('cannot be read');
  });
});
