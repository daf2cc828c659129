import { expect } from 'vitest';
import type { Json } from '#src/domain/json.js';
import type { TestService } from '../../support/test-service.js';

type Options = Parameters<TestService['call']>[3];

/** Tokenizes a body, and returns the response. If the request fails, the failure message contains the response. */
export async function tokenize(service: TestService, body: Json, options: Options = {}): Promise<Json> {
  return post(service, '/tokenize', body, options);
}

/** Detokenizes a body, and returns the response. If the request fails, the failure message contains the response. */
export async function detokenize(service: TestService, body: Json, options: Options = {}): Promise<Json> {
  return post(service, '/detokenize', body, options);
}

async function post(service: TestService, url: string, body: Json, options: Options): Promise<Json> {
  const answer = await service.call('POST', url, undefined, { ...options, raw: JSON.stringify(body) });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.headers).toMatchObject({
    'cache-control': 'no-store',
    'content-type': 'application/json; charset=utf-8',
  });
  const value: Json = JSON.parse(answer.text);
  return value;
}
