import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '#src/domain/json.js';
import type { RecordedEvent } from '#src/events/event.js';
import { UnreadableEvent } from '#src/events/read-clear.js';
import { openJson } from '#src/events/sealing/json-ciphertext.js';
import { openDocument } from '#src/events/tenancy/documents.js';
import { readTokenEvent, tokenEventVersion } from '#src/events/tokens/catalogue.js';
import { tokenStream } from '#src/events/tokens/stream-name.js';
import { applyToView, emptyView } from '#src/views/token-view.js';

type Recording = {
  readonly token_names_key: string;
  readonly directory_key: string;
  readonly keys: Readonly<Record<string, string>>;
  readonly token_ids: readonly string[];
  readonly events: readonly (Omit<RecordedEvent, 'trace' | 'sealed'> & {
    readonly trace: string | null;
    readonly sealed: { readonly content: string | null; readonly cvc: string | null };
  })[];
  readonly opened: readonly {
    readonly position: number;
    readonly field: 'content' | 'cvc';
    readonly key_id: string;
    readonly value: Json;
  }[];
  readonly documents: readonly { readonly position: number; readonly value: Json }[];
  readonly states: Readonly<Record<string, object>>;
};

const recordings = readdirSync('test/events')
  .filter((file) => /^recorded-version-\d+\.json$/.test(file))
  .map((file) => JSON.parse(readFileSync(`test/events/${file}`, 'utf8')) as Recording);
const cases = recordings.map((recording) => ({ recording, events: recording.events.map(recorded) }));
const [first] = cases;
if (first === undefined) throw new Error('there is no recording');

function recorded({ trace, sealed, ...event }: Recording['events'][number]): RecordedEvent {
  const box = (text: string | null) => (text === null ? null : Buffer.from(text, 'base64'));
  return { ...event, trace: box(trace), sealed: { content: box(sealed.content), cvc: box(sealed.cvc) } };
}

test('every version of every token event that was ever written is recorded', () => {
  const catalogue = readFileSync('src/events/tokens/catalogue.ts', 'utf8');
  const types = [...catalogue.matchAll(/^ {2}'(token\.[a-z.]+)': z/gm)].map(([, type]) => String(type));
  expect(types.length).toBeGreaterThanOrEqual(5);
  const seen = new Set(cases.flatMap(({ events }) => events.map(({ type, version }) => `${type} ${version}`)));
  for (const type of types) {
    for (let version = 1; version <= tokenEventVersion; version += 1) expect([...seen]).toContain(`${type} ${version}`);
  }
});

describe.each(cases)('a recorded log', ({ recording, events }) => {
  const at = (position: number): RecordedEvent => {
    const found = events.find((event) => event.position === position);
    if (found === undefined) throw new Error(`no event at ${position}`);
    return found;
  };

  test('can be read event by event', () => {
    for (const event of events.filter(({ type }) => type.startsWith('token.'))) {
      const { id, type, revision, position, time, tenantId, actorId, clear } = event;
      expect(readTokenEvent(event)).toEqual({ id, type, revision, position, time, tenantId, actorId, clear });
    }
  });

  test('folds to the states that were recorded with it', () => {
    for (const [stream, state] of Object.entries(recording.states)) {
      const own = events.filter((event) => event.stream === stream);
      const view = own.reduce(applyToView, emptyView(stream, own[0]?.tenantId ?? ''));
      expect(view.state).toEqual(state);
    }
  });

  test('has ciphertexts that the named keys open, and that contain the stored values', () => {
    expect(recording.opened.length).toBeGreaterThan(8);
    for (const { position, field, key_id: keyId, value } of recording.opened) {
      const { tenantId, stream, revision, sealed } = at(position);
      const key = Buffer.from(String(recording.keys[keyId]), 'hex');
      const opened = openJson(key, sealed[field] ?? Buffer.alloc(0), { tenantId, stream, revision, keyId, field });
      expect(opened).toEqual(value);
    }
    for (const { position, value } of recording.documents) {
      const { sealed, ...place } = at(position);
      const key = Buffer.from(recording.directory_key, 'hex');
      expect(openDocument(key, sealed.content ?? Buffer.alloc(0), place)).toEqual(value);
    }
  });

  test('has streams that can be found by the ids of the tokens', () => {
    const key = Buffer.from(recording.token_names_key, 'hex');
    const streams = recording.token_ids.map((id) => tokenStream(key, id));
    expect(streams.sort()).toEqual(Object.keys(recording.states).sort());
  });

  test('has values only inside its ciphertexts', () => {
    const texts = recording.opened.flatMap(({ field, value }) => (field === 'cvc' ? [`"${value}"`] : textsOf(value)));
    const clear = JSON.stringify(events.map(({ trace, sealed, ...rest }) => rest));
    expect(texts.length).toBeGreaterThan(10);
    for (const text of texts) expect(clear).not.toContain(text);
  });
});

function textsOf(value: Json): string[] {
  const content = value as JsonObject;
  const data = content['data'];
  const values =
    typeof data === 'string' ? [data] : Object.values(data as JsonObject).filter((one) => typeof one === 'string');
  return [String(content['id']), String(content['fingerprint']), '{{', ...(values as string[])];
}

describe('a reader stops at an unreadable event', () => {
  const tokens = first.events.filter(({ type }) => type.startsWith('token.'));
  const [created] = tokens;
  if (created === undefined) throw new Error('no token event was recorded');

  test.each([
    ['from a newer version', { version: tokenEventVersion + 1 }],
    ['from a version that never existed', { version: 0 }],
    ['with an unknown type', { type: 'token.exploded' }],
    ['with a type that is a property of every object', { type: 'constructor' }],
    ['without its plaintext part', { clear: {} }],
  ])('%s', (_, change) => {
    expect(() => readTokenEvent({ ...created, ...change })).toThrow(UnreadableEvent);
    expect(() => applyToView(emptyView(created.stream, created.tenantId), { ...created, ...change })).toThrow(
      UnreadableEvent,
    );
  });

  test('if a required field is missing or has the wrong JSON type', () => {
    const optional = new Set(['cvc_key', 'expires_at', 'cvc_purge_at']);
    for (const event of tokens) {
      for (const fact of Object.keys(event.clear)) {
        const { [fact]: _gone, ...others } = event.clear;
        if (!optional.has(fact))
          expect(() => readTokenEvent({ ...event, clear: others }), fact).toThrow(UnreadableEvent);
        for (const wrong of [null, {}, true, [1]]) {
          const clear = { ...event.clear, [fact]: wrong };
          expect(() => readTokenEvent({ ...event, clear }), `${event.type}: ${fact}`).toThrow(UnreadableEvent);
        }
      }
    }
  });

  test('without repeating anything from the event in the message', () => {
    fc.assert(
      fc.property(fc.uuid(), (marker) => {
        try {
          readTokenEvent({ ...created, clear: { token_type: marker, key: [marker] }, actorId: marker });
          expect.unreachable();
        } catch (error) {
          expect(error).toBeInstanceOf(UnreadableEvent);
          expect(String(error)).not.toContain(marker);
        }
      }),
    );
  });
});
