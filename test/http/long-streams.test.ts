import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { EventLog } from '#src/ports/event-log.js';
import { startTestService, type TestService } from '../support/test-service.js';

/** Each event of the stream can contain 512 KiB of ciphertext. */
const updates = 40;
/** Loading a token reads the ciphertexts of its first eight events, and of the two that are in use. */
const readMax = 20;

let service: TestService;
beforeEach(async () => {
  service = await startTestService();
});
afterEach(() => service.close());

/** Runs a request, and returns how many events it read from the log together with their ciphertexts. */
async function eventsReadBy(request: () => Promise<unknown>): Promise<number> {
  const log = service.vault.log as { -readonly [Name in keyof EventLog]: EventLog[Name] };
  const { readStream, readFrom } = log;
  let count = 0;
  const counted = <T extends { readonly length: number }>(events: T): T => {
    count += events.length;
    return events;
  };
  log.readStream = async (stream) => counted(await readStream(stream));
  log.readFrom = async (...range) => counted(await readFrom(...range));
  try {
    await request();
  } finally {
    Object.assign(log, { readStream, readFrom });
  }
  return count;
}

const created = { type: 'token', data: 'first', id: 'long' };

/** Creates a token with these headers, and updates it many times. */
async function makeLong(headers: Readonly<Record<string, string>>, more: object = {}): Promise<void> {
  expect((await service.call('POST', '/tokens', { ...created, ...more }, { headers })).status).toBe(201);
  for (let index = 0; index < updates; index += 1) {
    expect((await service.call('PATCH', '/tokens/long', { data: `value ${index}` })).status).toBe(200);
  }
}

describe('if a token was updated many times, a request reads only the ciphertexts that are in use', () => {
  test('when a create is retried', async () => {
    const headers = { 'service-idempotency-key': randomUUID() };
    await makeLong(headers);
    const retry = async () => {
      const answer = await service.call('POST', '/tokens', created, { headers });
      expect(answer).toMatchObject({ status: 201, body: { data: `value ${updates - 1}` } });
    };
    expect(await eventsReadBy(retry)).toBeLessThanOrEqual(readMax);
  });

  test('when an update is retried', async () => {
    const headers = { 'service-idempotency-key': randomUUID() };
    await makeLong({});
    const update = async () => {
      expect((await service.call('PATCH', '/tokens/long', { data: 'last' }, { headers })).status).toBe(200);
    };
    await update();
    expect(await eventsReadBy(update)).toBeLessThanOrEqual(readMax);
  });

  test('when a token with its first value is created and deduplicated', async () => {
    await makeLong({}, { deduplicate_token: true });
    const other = async () => {
      const answer = await service.call('POST', '/tokens', { ...created, id: 'other', deduplicate_token: true });
      expect(answer.status).toBe(201);
    };
    expect(await eventsReadBy(other)).toBeLessThanOrEqual(readMax);
  });

  test('when its id is used again in a request that creates several tokens', async () => {
    await makeLong({});
    expect((await service.call('DELETE', '/tokens/long')).status).toBe(204);
    const both = async () => {
      const tokens = [created, { type: 'token', data: 'second', id: 'another' }];
      expect((await service.call('POST', '/tokenize', tokens)).status).toBe(200);
    };
    expect(await eventsReadBy(both)).toBeLessThanOrEqual(readMax);
  });
});
