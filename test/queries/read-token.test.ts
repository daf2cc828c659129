import { afterEach, beforeEach, expect, test } from 'vitest';
import { tokenStream } from '#src/events/tokens/stream-name.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { readToken } from '#src/queries/read-token.js';
import { startTestService, type TestService } from '../support/test-service.js';

let service: TestService;
beforeEach(async () => {
  service = await startTestService();
});
afterEach(() => service.close());

/** Content this long is decrypted in a turn of its own, so the token can change between its row and its key. */
const long = (count: number) => `${count} ${'x'.repeat(70_000)}`;

/** Reads a token that changes during each of the first `changes` reads. */
async function readWhileChanging(changes: number) {
  const { vault, tenantId } = service;
  const created = await service.call('POST', '/tokens', { type: 'token', data: long(0) });
  const id = String(created.body['id']);
  let changed = 0;
  const turns: typeof vault.turns = {
    ...vault.turns,
    async turn() {
      if (changed === changes) return;
      changed += 1;
      const patched = await service.call('PATCH', `/tokens/${id}`, { data: long(changed) });
      expect(patched.status, patched.text).toBe(200);
    },
  };
  const names = (await vault.keys.tenantKeys(tenantId))?.names;
  if (names === undefined) throw new Error('the tenant has keys');
  return readToken({ ...vault, turns }, tenantId, tokenStream(names, id));
}

test('a token that changes while it is read is not taken for a forgery', async () => {
  expect((await readWhileChanging(5))?.view.state.revision).toBe(5);
});

test('a read of a token that changes each time ends, and can be tried again', async () => {
  await expect(readWhileChanging(Number.POSITIVE_INFINITY)).rejects.toThrow(StoreUnavailable);
});
