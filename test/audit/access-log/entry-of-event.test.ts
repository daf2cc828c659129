import { expect, test } from 'vitest';
import { entryOfEvent } from '#src/audit/access-log/entry-of-event.js';
import type { NewAccessEntry } from '#src/events/access-log/access-entry.js';
import { entityRef } from '#src/events/access-log/entity-ref.js';
import { type EventType, systemEvent } from '#src/events/event.js';

const namesKey = Buffer.alloc(32, 7);
const clear = { application_id: 'the-application', key_id: 'the-key', webhook_id: 'the-webhook' };

/** What the entry of each event is about, and the operation. Null for an event without an entry. */
const expected: Readonly<Record<EventType, readonly [entityId: string | null, operation: string] | null>> = {
  'token.created': [null, 'create'],
  'token.updated': [null, 'update'],
  'token.deleted': [null, 'delete'],
  'token.expired': [null, 'expiry'],
  'token.property.expired': [null, 'purge'],
  'token.fenced': null,
  'tenant.created': ['the-tenant', 'create'],
  'tenant.updated': ['the-tenant', 'update'],
  'tenant.deleted': ['the-tenant', 'delete'],
  'tenant.fenced': null,
  'application.created': ['the-application', 'create'],
  'application.updated': ['the-application', 'update'],
  'application.deleted': ['the-application', 'delete'],
  'application.key.issued': ['the-key', 'create'],
  'application.key.revoked': ['the-key', 'delete'],
  'webhook.created': ['the-webhook', 'create'],
  'webhook.updated': ['the-webhook', 'update'],
  'webhook.deleted': ['the-webhook', 'delete'],
  'audit.checkpoint': null,
  'log.opened': null,
};

function entryOf(type: string): NewAccessEntry | null {
  const event = systemEvent({ id: 'e', type, version: 1, tenantId: 'the-tenant', time: 1, clear });
  return entryOfEvent(event, `token-${'ab'.repeat(32)}`, 0, namesKey);
}

test.each(Object.entries(expected))('the entry of %s names what the event changed', (type, words) => {
  const entry = entryOf(type);
  if (words === null) expect(entry).toBeNull();
  else {
    const [entityId, operation] = words;
    const ref = entityId === null ? expect.stringMatching(/^(ab){32}$/) : entityRef(namesKey, entityId);
    expect(entry).toMatchObject({ entityId, entityRef: ref, operation, outcome: 'success', actorType: 'system' });
  }
});

test('the entry of a change to the access of an application says so', () => {
  const updated = (changed: readonly string[]) => {
    const of = { id: 'e', type: 'application.updated', version: 1, tenantId: 'the-tenant', time: 1 };
    return entryOfEvent(systemEvent({ ...of, clear: { ...clear, changed: [...changed] } }), 'tenant-x', 0, namesKey);
  };
  expect(updated(['name'])?.message).toBe('application changed');
  expect(updated(['name', 'rules'])?.message).toBe('permissions or rules of the application changed');
  expect(updated(['permissions'])?.message).toBe('permissions or rules of the application changed');
});
