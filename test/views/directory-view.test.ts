import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { JsonObject } from '#src/domain/json.js';
import type { ProvenEvent } from '#src/events/commit.js';
import { tenantStream } from '#src/events/tenancy/streams.js';
import { foldDirectory } from '#src/projections/project-directory.js';
import { applyToDirectory, foldDirectoryRows, noDirectoryRows } from '#src/views/directory-view.js';

const tenantId = randomUUID();
const none = Buffer.alloc(32);

/** Returns the events of a tenant that has created applications, and has deleted every second one. */
function eventsOf(applications: number): readonly ProvenEvent[] {
  const events: ProvenEvent[] = [];
  const add = (type: string, clear: JsonObject): void => {
    const revision = events.length;
    events.push({
      id: randomUUID(),
      type,
      version: 1,
      tenantId,
      actorId: 'operator',
      time: revision,
      cmd: null,
      trace: null,
      clear,
      sealed: { content: Buffer.from(`content ${revision}`), cvc: null },
      stream: tenantStream(tenantId),
      revision,
      position: revision + 1,
      proof: { first: revision, digests: null, sealedHash: none, mac: none },
      leaf: none,
    });
  };
  add('tenant.created', {});
  for (let number = 0; number < applications; number += 1) {
    const id = randomUUID();
    add('application.created', { application_id: id, application_type: 'private' });
    add('application.key.issued', { application_id: id, key_id: randomUUID(), key_hash: 'ab'.repeat(32) });
    if (number % 2 === 1) add('application.deleted', { application_id: id });
  }
  add('tenant.updated', { changed: ['name'] });
  return events;
}

test('the rows of a whole stream are those that its events lead to one by one', () => {
  const events = eventsOf(6);
  const folded = foldDirectoryRows(events);
  expect(folded).toEqual(events.reduce(applyToDirectory, noDirectoryRows));
  expect(folded.applications.size).toBe(6);
});

// A fold that copied all applications with each event would reach the time limit of the test.
test('a tenant that has had more than a hundred thousand applications can be folded', async () => {
  const events = eventsOf(130_000).filter(({ type }) => type.endsWith('.created'));
  const log = { head: async () => events.length, readClear: async () => events, readStream: async () => events };
  const { records } = await foldDirectory(log, none);
  expect(records).toHaveLength(130_001);
  expect(records.at(-1)).toMatchObject({ kind: 'tenant', revision: events.at(-1)?.revision });
});
