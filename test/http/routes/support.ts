import { randomUUID } from 'node:crypto';
import { test as base, expect, vi } from 'vitest';
import type { JsonObject } from '#src/domain/json.js';
import { type Answer, startTestService, type TestService } from '../../support/test-service.js';

/**
 * A test that uses the real service. All tests in a file share one service. After the tests, the file fails if the
 * service reported an error.
 */
export const test = base.extend<{ service: TestService }>({
  service: [
    // biome-ignore lint/correctness/noEmptyPattern: Vitest reads from it that nothing else is needed
    async ({}, use) => {
      const service = await startTestService();
      await use(service);
      expect(service.errors).toEqual([]);
      await service.close();
    },
    { scope: 'file' },
  ],
});

export function uniqueId(prefix = 'id'): string {
  return `${prefix}-${randomUUID()}`;
}

/** Returns the parts that identify an error: the status, the code and, for a 400, the paths in `errors`. */
export function refusal({ status, body }: Answer) {
  const { code, errors } = body;
  return { status, code, paths: Object.keys((errors ?? {}) as JsonObject) };
}

type Refusal = { readonly status: number; readonly code: string; readonly paths?: readonly string[] };

/**
 * Sends a request. Checks that it fails with this error, that the response is a complete problem document (RFC 9457),
 * and that nothing was stored.
 */
export async function expectRefusal(
  service: TestService,
  send: () => Promise<Answer>,
  { status, code, paths = [] }: Refusal,
): Promise<Answer> {
  const before = await service.eventCount();
  const answer = await send();
  expect(refusal(answer), answer.text).toEqual({ status, code, paths });
  expectProblem(answer);
  expect(await service.eventCount(), 'events in the log').toBe(before);
  return answer;
}

/** Sends a request, and sends it again just before the first stores its change. Returns both answers. */
export async function sendDuringFirst(service: TestService, send: () => Promise<Answer>): Promise<Answer[]> {
  const { commit } = service.vault.work;
  const during: Answer[] = [];
  const held = vi.spyOn(service.vault.work, 'commit').mockImplementationOnce(async (change) => {
    during.push(await send());
    return commit(change);
  });
  const first = await send().finally(() => held.mockRestore());
  return [first, ...during];
}

export function invalid(...paths: readonly string[]): Refusal {
  return { status: 400, code: 'validation_failed', paths };
}

export function expectProblem({ status, headers, body, text }: Answer): void {
  expect(headers['content-type'], text).toBe('application/problem+json; charset=utf-8');
  expect(headers['cache-control']).toBe('no-store');
  expect(body).toMatchObject({
    type: `/errors/${body['code']}`,
    title: expect.stringMatching(/\S/),
    status,
    detail: expect.stringMatching(/\S/),
    instance: `urn:trace:${headers['service-trace-id']}`,
  });
  const known = ['type', 'title', 'status', 'detail', 'instance', 'code', 'errors'];
  expect(Object.keys(body).filter((key) => !known.includes(key))).toEqual([]);
}

/** Creates a token, and returns its body. If the request fails, the failure message contains the response. */
export async function create(
  service: TestService,
  body: object,
  options: Parameters<TestService['call']>[3] = {},
): Promise<JsonObject & { readonly id: string }> {
  const answer = await service.call('POST', '/tokens', body, options);
  expect(answer.status, answer.text).toBe(201);
  return { ...answer.body, id: String(answer.body['id']) };
}

/** Creates a token of type `token` with an id that no other test uses. */
export function createPlain(service: TestService, fields: object = {}) {
  return create(service, { id: uniqueId(), type: 'token', data: 'value', ...fields });
}

export async function read(service: TestService, id: string, key?: string): Promise<JsonObject> {
  const answer = await service.call('GET', path(id), undefined, key === undefined ? {} : { key });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** Removes the trace id from a problem document, because a trace id can contain any short number by chance. */
export function withoutTrace(text: string): string {
  return text.replace(/urn:trace:[^"]*/, '');
}

export function path(id: string): string {
  return `/tokens/${encodeURIComponent(id)}`;
}

/**
 * Skips the first `count` events. Returns the type, the plaintext part, the actor and the stream of every later event.
 */
export async function eventsSince(service: TestService, count: number) {
  const events = await service.vault.log.readAll(0, 1_000_000);
  return events.slice(count).map(({ type, clear, actorId, stream }) => ({ type, clear, actorId, stream }));
}

/** Like `eventsSince`, but returns only the events in the same stream as the first of them. */
export async function streamSince(service: TestService, count: number) {
  const events = await eventsSince(service, count);
  return events.filter(({ stream }) => stream === events[0]?.stream);
}

export const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '123' };

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
