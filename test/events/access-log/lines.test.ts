import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { AccessEntry } from '#src/events/access-log/access-entry.js';
import { batchHash, groupsOf, linesOf, mayShareLine, noBatch, parseLines } from '#src/events/access-log/batch-hash.js';
import { entriesOfLines } from '../../support/entries-of-line.js';

const entry: AccessEntry = {
  tenantId: 'tenant',
  time: 1_767_225_600_000,
  actorId: 'application',
  actorType: 'application',
  keyId: 'key',
  sourceAddress: '2001:db8::1',
  entityType: 'token',
  entityRef: 'aa',
  entityId: null,
  operation: 'read',
  outcome: 'success',
  message: 'token shown masked',
  trace: Buffer.from('trace'),
  traceIndex: null,
  tracePlace: null,
};

/** Returns the line of an entry that begins a batch. */
function lineOf(first: AccessEntry): string {
  return linesOf([first]).join();
}

/** Returns entries of one request. Each trace is a separate copy, as in entries that were read from a store. */
function entriesOf(trace: Uint8Array, refs: readonly (string | null)[]): AccessEntry[] {
  return refs.map((entityRef) => ({ ...entry, entityRef, trace: Buffer.from(trace) }));
}

describe('the lines of a batch', () => {
  // These bytes are documented (docs/design.md, "Access log"), and the hashes of every stored chain cover them.
  test('an entry that stands alone has its own line', () => {
    expect(linesOf([entry])).toEqual([
      '["tenant",1767225600000,"application","application","key","2001:db8::1","token","aa",null,"read","success","token shown masked","dHJhY2U="]',
    ]);
    expect(linesOf([{ ...entry, keyId: null, trace: null, tracePlace: { stream: 'token-aa', revision: 3 } }])).toEqual([
      '["tenant",1767225600000,"application","application",null,"2001:db8::1","token","aa",null,"read","success","token shown masked",null,"token-aa",3]',
    ]);
  });

  test('entries of one request share a line with a list of their references', () => {
    const lines = linesOf(entriesOf(Buffer.from('trace'), ['aa', null, 'bb', 'bb']));
    expect(lines).toEqual([
      '["tenant",1767225600000,"application","application","key","2001:db8::1","token",["aa",null,"bb","bb"],null,"read","success","token shown masked","dHJhY2U="]',
    ]);
    const hash = createHash('sha256').update(noBatch).update(`1\n${lines[0]}\n`).digest();
    expect(batchHash(noBatch, 1, lines)).toEqual(hash);
  });

  const differences: readonly Partial<AccessEntry>[] = [
    { tenantId: 'other' },
    { time: entry.time + 1 },
    { actorId: 'other' },
    { actorType: 'system' },
    { keyId: null },
    { sourceAddress: null },
    { entityType: 'log' },
    { entityId: 'other' },
    { operation: 'reveal' },
    { outcome: 'denied' },
    { message: 'other' },
    { trace: Buffer.from('other') },
    { trace: null },
    { traceIndex: 0 },
    { tracePlace: { stream: 'token-aa', revision: 0 } },
  ];
  test.each(differences)('entries that differ in %o do not share a line', (difference) => {
    const other = { ...entry, ...difference };
    expect(linesOf([entry, other, entry])).toEqual([entry, other, entry].map((one) => lineOf(one)));
  });

  test.each([
    [
      { stream: 'token-aa', revision: 1 },
      { stream: 'token-aa', revision: 2 },
    ],
    [
      { stream: 'token-aa', revision: 1 },
      { stream: 'token-bb', revision: 1 },
    ],
  ])('entries whose traces are bound to %o and %o do not share a line', (one, other) => {
    expect(
      linesOf([
        { ...entry, tracePlace: one },
        { ...entry, tracePlace: other },
      ]),
    ).toHaveLength(2);
  });

  test('entries without a trace do not share a line, because they can be of different requests', () => {
    expect(
      linesOf([
        { ...entry, trace: null },
        { ...entry, trace: null },
      ]),
    ).toHaveLength(2);
  });

  test('an index without a ciphertext changes the line', () => {
    const untraced = { ...entry, trace: null };
    expect(linesOf([{ ...untraced, traceIndex: 5 }])).not.toEqual(linesOf([untraced]));
  });

  test('only the first line of a ciphertext of several traces contains the ciphertext', () => {
    const [one, other] = [Buffer.from('one'), Buffer.from('other')];
    const of = (trace: Uint8Array, traceIndex: number | null, entityRef: string): AccessEntry => ({
      ...entry,
      trace: Buffer.from(trace),
      traceIndex,
      entityRef,
    });
    const entries = [of(one, 0, 'aa'), of(one, 1, 'bb'), of(one, 1, 'cc'), entry, of(one, 2, 'dd'), of(other, 0, 'ee')];
    const lines = linesOf(entries);
    expect(lines.map((line) => JSON.parse(line)[12])).toEqual([['b25l', 0], 1, 'dHJhY2U=', 2, ['b3RoZXI=', 0]]);
    expect(entriesOfLines(lines)).toEqual(entries);
    // The line of a later request needs an earlier line.
    expect(parseLines(lines.slice(1))).toBeNull();
  });

  test('a line has at most 1,000 entries', () => {
    const entries = entriesOf(randomBytes(60), Array<string>(2_001).fill('aa'));
    expect(groupsOf(entries).map((group) => group.length)).toEqual([1_000, 1_000, 1]);
  });

  test('entries can be read from their lines, and a batch that begins at any line has the same lines', () => {
    const [one, other] = [randomBytes(60), randomBytes(60)];
    const entries = [
      ...entriesOf(one, ['aa']),
      ...entriesOf(other, ['aa', 'bb', 'aa']),
      ...entriesOf(one, ['cc', 'dd']),
      ...entriesOf(one, ['cc', 'dd']).map((each) => ({ ...each, tracePlace: { stream: 'token-cc', revision: 7 } })),
      ...entriesOf(other, Array<string>(1_500).fill('ee')),
    ];
    const lines = linesOf(entries);
    expect(lines).toHaveLength(6);
    expect(entriesOfLines(lines)).toEqual(entries);
    for (let from = 0; from < lines.length; from += 1) {
      for (let to = from + 1; to <= lines.length; to += 1) {
        const part = lines.slice(from, to);
        expect(linesOf(entriesOfLines(part))).toEqual(part);
      }
    }
  });
});

describe('lines from two requests', () => {
  const lineOfTrace = (trace: Uint8Array, refs: readonly string[]) => linesOf(entriesOf(trace, refs)).join('\n');

  test('must be in different batches if a verifier would join them', () => {
    const trace = randomBytes(60);
    const [one, other] = [lineOfTrace(trace, ['aa', 'bb']), lineOfTrace(trace, ['cc'])];
    const unrelated = lineOfTrace(randomBytes(60), ['aa']);
    expect(mayShareLine(one, other)).toBe(true);
    expect(mayShareLine(`${unrelated}\n${one}`, `${other}\n${unrelated}`)).toBe(true);
    const shortest = { ...entry, operation: '', message: '', trace: Buffer.alloc(0) };
    expect(mayShareLine(lineOf(shortest), lineOf({ ...shortest, entityRef: 'cc' }))).toBe(true);
  });

  test('can be in one batch if they have different traces or none', () => {
    const [one, other] = [lineOfTrace(randomBytes(60), ['aa']), lineOfTrace(randomBytes(60), ['aa'])];
    expect(mayShareLine(one, other)).toBe(false);
    expect(mayShareLine(`${other}\n${one}`, `${other}\n${one}`)).toBe(false);
    const untraced = lineOf({ ...entry, trace: null });
    expect(mayShareLine(untraced, untraced)).toBe(false);
    expect(mayShareLine('', one)).toBe(false);
  });
});

describe('a line that the vault did not write is not parsed', () => {
  /** Returns the line of `entry` with one of its fields replaced. */
  function withField(index: number, value: unknown): string {
    const fields = JSON.parse(lineOf(entry)) as unknown[];
    fields[index] = value;
    return JSON.stringify(fields);
  }

  test('the same line without a replaced field is parsed', () => {
    expect(parseLines([withField(7, 'aa')])).not.toBeNull();
    expect(parseLines([withField(7, ['aa', null, 'bb'])])).not.toBeNull();
  });

  test.each([
    ['text', 'hello'],
    ['an empty line', ''],
    ['null', 'null'],
    ['an object', '{}'],
    ['an empty list', '[]'],
    ['a numeric tenant', withField(0, 7)],
    ['a time after the year 9999', withField(1, 1e17)],
    ['a time at the beginning of the year 10000', withField(1, Date.UTC(10_000, 0))],
    ['a time before the year 0', withField(1, -1e14)],
    ['a fractional time', withField(1, 1_767_225_600_000.5)],
    ['a time as text', withField(1, '2026')],
    ['an actor that is an object', withField(2, {})],
    ['an unknown type of actor', withField(3, 'robot')],
    ['a numeric reference', withField(7, 5)],
    ['a reference that is not hex', withField(7, 'token')],
    ['an empty list of references', withField(7, [])],
    ['a list with a numeric reference', withField(7, ['aa', 5])],
    ['an unknown outcome', withField(10, 'maybe')],
    ['an index without a ciphertext before it', withField(12, 5)],
    ['a trace that is an object', withField(12, {})],
    ['a trace list without an index', withField(12, ['aa'])],
    ['a trace list without a ciphertext', withField(12, [null, 0])],
    ['a fractional index', withField(12, ['aa', 0.5])],
    ['a trace place without a revision', withField(13, 'token-aa')],
    ['a trace place with a revision that is text', withField(14, 'x')],
  ])('%s', (_what, line) => {
    expect(parseLines([line])).toBeNull();
  });
});
