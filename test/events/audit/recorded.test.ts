import { verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  checkpointBytes,
  checkpointClear,
  checkpointHash,
  checkpointStream,
  checkpointType,
  checkpointVersion,
  readCheckpointEvent,
} from '#src/events/audit/checkpoint.js';
import { eventLink, type LinkedEvent, noLink } from '#src/events/audit/event-link.js';
import { endedKeys } from '#src/events/ended-keys.js';
import type { RecordedEvent } from '#src/events/event.js';
import { UnreadableEvent } from '#src/events/tokens/catalogue.js';

type Boxes = { readonly trace: string | null; readonly sealed: Record<'content' | 'cvc', string | null> };
type Stored = Omit<RecordedEvent, 'trace' | 'sealed'> & Boxes;

const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
const box = (text: string | null) => (text === null ? null : Buffer.from(text, 'base64'));
const recorded = ({ trace, sealed, ...event }: Stored): RecordedEvent => ({
  ...{ ...event, trace: box(trace) },
  sealed: { content: box(sealed.content), cvc: box(sealed.cvc) },
});

const recording = read('test/events/audit/recorded-version-1.json') as {
  readonly public_key: string;
  readonly links: readonly string[];
  readonly events: readonly Stored[];
};
const events = (read('test/events/recorded-version-1.json') as { readonly events: readonly Stored[] }).events.map(
  recorded,
);
const checkpoints = recording.events.map(recorded);

test('the chain over the recorded events is the one that was recorded', () => {
  let hash: Uint8Array = noLink;
  const links = events.map((event) => {
    hash = eventLink(hash, event);
    return Buffer.from(hash).toString('hex');
  });
  expect(links).toEqual(recording.links);
});

test('every recorded checkpoint is read as it was written, signs that chain, and names the one before', () => {
  let previous: string | null = null;
  for (const event of checkpoints) {
    const checkpoint = readCheckpointEvent(event);
    expect([event.stream, event.type, event.version]).toEqual([checkpointStream, checkpointType, checkpointVersion]);
    expect(checkpointClear(checkpoint)).toEqual(event.clear);
    expect(checkpoint.hash).toBe(recording.links[checkpoint.count - 1]);
    expect(checkpoint.previous).toBe(previous);
    previous = checkpointHash(checkpoint);
    const signature = Buffer.from(checkpoint.signature, 'base64');
    expect(verify(null, checkpointBytes(checkpoint), recording.public_key, signature)).toBe(true);
  }
  expect(checkpoints.length).toBeGreaterThan(1);
});

test('a checkpoint ends no key', () => {
  expect(endedKeys(checkpoints)).toEqual([]);
});

test('every field of a checkpoint is signed', () => {
  const [, event] = checkpoints;
  if (event === undefined) throw new Error('no checkpoint was recorded');
  const checkpoint = readCheckpointEvent(event);
  const signed = checkpointBytes(checkpoint).toString('hex');
  const [chain] = checkpoint.access;
  if (chain === undefined) throw new Error('it names no chain');
  const changes = [
    ...[{ log_id: 'other' }, { number: 3 }, { time: 1 }, { position: 1 }, { count: 1 }, { hash: 'ee'.repeat(32) }],
    ...[{ previous: null }, { signed_by: 'ee'.repeat(32) }, { access: [] }, { access: [{ ...chain, chain: 'other' }] }],
    ...[{ access: [{ ...chain, sequence: 5 }] }, { access: [{ ...chain, hash: 'ee'.repeat(32) }] }],
  ];
  for (const change of changes) {
    expect(checkpointBytes({ ...checkpoint, ...change }).toString('hex'), JSON.stringify(change)).not.toBe(signed);
  }
});

describe('a checkpoint that cannot be read stops the reader', () => {
  const [first] = checkpoints;
  if (first === undefined) throw new Error('no checkpoint was recorded');
  test.each([
    ['of a newer version', { version: checkpointVersion + 1 }],
    ['of another type', { type: 'token.created' }],
    ['without its clear part', { clear: {} }],
    ['with a hash that is none', { clear: { ...first.clear, hash: 'x' } }],
  ])('%s', (_, change) => {
    expect(() => readCheckpointEvent({ ...first, ...change })).toThrow(UnreadableEvent);
  });
});

describe('the link of an event', () => {
  const [, event] = events;
  if (event === undefined) throw new Error('no event was recorded');
  const whole: LinkedEvent = { ...event, cmd: 'c', trace: Buffer.of(1), sealed: { content: Buffer.of(2), cvc: null } };
  const link = (changed: Partial<LinkedEvent>): string => eventLink(noLink, { ...whole, ...changed }).toString('hex');

  test.each<[string, Partial<LinkedEvent>]>([
    ['stream', { stream: 'other' }],
    ['revision', { revision: 77 }],
    ['id', { id: 'other' }],
    ['type', { type: 'other' }],
    ['version', { version: 2 }],
    ['tenant', { tenantId: 'other' }],
    ['actor', { actorId: 'other' }],
    ['time', { time: 1 }],
    ['cmd', { cmd: 'd' }],
    ['lack of a cmd', { cmd: null }],
    ['clear part', { clear: { other: true } }],
    ['trace', { trace: Buffer.of(9) }],
    ['lack of a trace', { trace: null }],
    ['content', { sealed: { content: Buffer.of(9), cvc: null } }],
    ['box of the content, moved to that of the cvc', { sealed: { content: null, cvc: Buffer.of(2) } }],
    ['empty box in place of none', { sealed: { content: Buffer.of(2), cvc: Buffer.alloc(0) } }],
  ])('changes with its %s', (_, change) => {
    expect(link(change)).not.toBe(link({}));
  });

  test('changes with the one before, and not with the position', () => {
    expect(eventLink(Buffer.alloc(32, 1), whole).toString('hex')).not.toBe(link({}));
    expect(link({ position: 99 } as Partial<LinkedEvent>)).toBe(link({}));
  });
});
