import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { RecordedEvent } from '#src/events/event.js';
import { UnreadableEvent } from '#src/events/read-clear.js';
import { openTrace } from '#src/events/sealing/trace-ciphertext.js';
import { directoryEventVersion, readDirectoryEvent } from '#src/events/tenancy/catalogue.js';
import { applicationDocumentSchema, openDocument, tenantDocumentSchema } from '#src/events/tenancy/documents.js';
import { applyToDirectory, type DirectoryView } from '#src/views/directory-view.js';

type Fixture = {
  readonly keys: { readonly directory: string; readonly audit: string };
  readonly events: readonly (Omit<RecordedEvent, 'trace' | 'sealed'> & {
    readonly trace: string | null;
    readonly content: string | null;
  })[];
};

/** Events of version 1, as they were stored. Every later version of the program must be able to read them. */
const file = new URL('./fixtures/v1.json', import.meta.url);
const recorded = JSON.parse(readFileSync(file, 'utf8')) as Fixture;
const bytes = (text: string | null): Buffer | null => (text === null ? null : Buffer.from(text, 'base64'));
const events: readonly RecordedEvent[] = recorded.events.map(({ trace, content, ...event }) => ({
  ...event,
  trace: bytes(trace),
  sealed: { content: bytes(content), cvc: null },
}));
const directoryKey = Buffer.from(recorded.keys.directory, 'hex');
const nothing: DirectoryView = { tenant: null, applications: new Map() };

function documentOf({ type, tenantId, stream, revision, sealed }: RecordedEvent): { readonly name: string } | null {
  if (sealed.content === null) return null;
  const opened = openDocument(directoryKey, sealed.content, { tenantId, stream, revision });
  const schema = type.startsWith('tenant.') ? tenantDocumentSchema : applicationDocumentSchema;
  return schema.parse(opened);
}

describe('events of version 1, as they were recorded', () => {
  test('include every type', () => {
    expect([...new Set(events.map(({ type }) => type))].sort()).toEqual([
      'application.created',
      'application.deleted',
      'application.key.issued',
      'application.key.revoked',
      'application.updated',
      'tenant.created',
      'tenant.deleted',
      'tenant.fenced',
      'tenant.updated',
    ]);
    expect(new Set(events.map(({ version }) => version))).toEqual(new Set([1]));
  });

  test('can be decrypted, and each contains the complete resulting document', () => {
    for (const event of events) {
      const without = ['tenant.deleted', 'application.deleted', 'tenant.fenced'].includes(event.type);
      expect(documentOf(event) === null, event.type).toBe(without);
    }
    const names = events.map((event) => documentOf(event)?.name);
    expect(new Set(names)).toEqual(
      new Set(['Recorded shop', 'management', 'till', 'web', 'web shop', 'gone', 'Recorded shop, renamed', undefined]),
    );
    const updated = events.find(({ type }) => type === 'application.updated');
    if (updated === undefined) throw new Error('none was recorded');
    expect(documentOf(updated)).toMatchObject({
      name: 'web shop',
      type: 'public',
      expires_at: Date.UTC(2030, 0, 1),
      modified_by: 'operator',
      access: { kind: 'permissions', permissions: ['token:create', 'token:update'] },
    });
  });

  test('contain the id of the request that caused them', () => {
    const traces = events.map((event) =>
      event.trace === null ? null : openTrace(Buffer.from(recorded.keys.audit, 'hex'), event.trace, event)?.traceId,
    );
    expect(new Set(traces)).toEqual(new Set([null, 'recorded.trace']));
  });

  test('result in the recorded rows', () => {
    const beforeTheEnd = events.filter(({ type }) => type !== 'tenant.deleted').reduce(applyToDirectory, nothing);
    const living = [...beforeTheEnd.applications.values()].filter(({ removedAt }) => removedAt === null);
    expect(living.map(({ applicationType, keys }) => [applicationType, keys.length])).toEqual([
      ['management', 1],
      ['private', 1],
      ['public', 1],
    ]);
    const { tenant } = events.reduce(applyToDirectory, nothing);
    const end = events.find(({ type }) => type === 'tenant.deleted');
    expect(tenant).toMatchObject({ revision: events.length - 1, content: null, removedAt: end?.time });
  });
});

describe('a reader stops at an unreadable event and never skips it', () => {
  const [first] = events;
  test.for([
    ['from a newer version', { version: directoryEventVersion + 1 }],
    ['from a version that never existed', { version: 0 }],
    ['with an unknown type', { type: 'application.renamed' }],
    ['with a type that is a property of every object', { type: 'constructor' }],
    ['without a required part', { type: 'application.created', clear: {} }],
  ] as const)('%s', ([, change]) => {
    if (first === undefined) throw new Error('none was recorded');
    expect(() => readDirectoryEvent({ ...first, ...change })).toThrow(UnreadableEvent);
  });
});
