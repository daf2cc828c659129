import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Checkpoint, checkpointStream, readCheckpointEvent } from '#src/events/audit/checkpoint.js';
import { endsCommit, leafOf } from '#src/events/commit.js';
import { tokenStream } from '#src/events/tokens/stream-name.js';
import { consistencyPath, inclusionPath, isConsistent, rootByPath } from '../events/audit/proof-paths.js';
import { startTestService, type TestService } from '../support/test-service.js';

let service: TestService;
let checkpoints: readonly Checkpoint[];
/** The leaves of all commits. The vault has them, but an auditor does not. */
let leaves: readonly Uint8Array[];

beforeAll(async () => {
  service = await startTestService();
  const other = await service.otherTenant();
  for (const id of ['one', 'two', 'three']) {
    await service.call('POST', '/tokens', { type: 'token', id, data: `data of ${id}` });
    await service.call('POST', '/tokens', { type: 'token', id, data: `data of ${id}` }, { key: other });
  }
  await service.service.checkpointer.run('grown');
  await service.call('PATCH', '/tokens/two', { metadata: { a: 'b' } });
  await service.call('DELETE', '/tokens/two');
  await service.call('DELETE', '/tokens/two', undefined, { key: other });
  await service.service.checkpointer.run('grown');
  const { log } = service.vault;
  checkpoints = [...(await log.readNewest(checkpointStream, null, 10))].reverse().map(readCheckpointEvent);
  leaves = (await log.readClear(0, 1_000)).filter(endsCommit).map(({ leaf }) => leaf);
});

afterAll(() => service.close());

const rootOfCheckpoint = ({ root }: Checkpoint) => Buffer.from(root, 'hex');

test('the events of one token are proven against a checkpoint without the events of other tokens', async () => {
  const newest = checkpoints.at(-1);
  if (newest === undefined) throw new Error('there are checkpoints');
  const { names } = (await service.vault.keys.tenantKeys(service.tenantId)) ?? {};
  const stream = tokenStream(names ?? Buffer.of(), 'two');
  const own = await service.vault.log.readStream(stream);
  expect(own.map(({ type }) => type)).toEqual(['token.created', 'token.updated', 'token.deleted']);
  for (const { mac: _, ...event } of own.map((event) => ({ ...event, mac: event.proof.mac }))) {
    // The auditor receives only this event and a path of hashes, and computes the leaf from the event.
    const leaf = leafOf(event);
    if (leaf === null) throw new Error('it is part of its commit');
    const index = leaves.findIndex((one) => leaf.equals(one));
    const path = inclusionPath(index, leaves.slice(0, newest.count));
    expect(rootOfCheckpoint(newest).equals(rootByPath(leaf, index, newest.count, path))).toBe(true);
    const forged = leafOf({ ...event, time: event.time + 1 });
    if (forged === null) throw new Error('it would be part of its commit');
    expect(rootOfCheckpoint(newest).equals(rootByPath(forged, index, newest.count, path))).toBe(false);
  }
});

test('a later checkpoint is proven to include everything that an earlier checkpoint signed', () => {
  const [first, second] = checkpoints;
  if (first === undefined || second === undefined) throw new Error('there are two checkpoints');
  const path = consistencyPath(first.count, leaves.slice(0, second.count));
  const [early, late] = [rootOfCheckpoint(first), rootOfCheckpoint(second)];
  expect(isConsistent([first.count, early], [second.count, late], path)).toBe(true);
  expect(isConsistent([first.count, late], [second.count, late], path)).toBe(false);
});
