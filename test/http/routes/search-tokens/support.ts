import { expect } from 'vitest';
import type { JsonObject } from '#src/domain/json.js';
import type { TestService } from '../../../support/test-service.js';

type Found = {
  readonly ids: readonly string[];
  readonly total: number;
  readonly tokens: readonly JsonObject[];
  readonly pagination: JsonObject;
};

/** Sends a search, and returns the result. Fails the test if the status is not 200. */
export async function search(
  service: TestService,
  query?: string,
  { key, ...body }: { readonly page?: number; readonly size?: number; readonly key?: string } = {},
): Promise<Found> {
  const options = key === undefined ? {} : { key };
  return found(await service.call('POST', '/tokens/search', { query, ...body }, options));
}

/** Sends a list request with this query string, and returns the result. */
export async function list(service: TestService, queryString = '', key?: string): Promise<Found> {
  const options = key === undefined ? {} : { key };
  return found(await service.call('GET', `/tokens${queryString}`, undefined, options));
}

function found({ status, text, headers, body }: Awaited<ReturnType<TestService['call']>>): Found {
  expect(status, text).toBe(200);
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  expect(headers['cache-control']).toBe('no-store');
  expect(Object.keys(body)).toEqual(['pagination', 'data']);
  const tokens = body['data'] as readonly JsonObject[];
  const pagination = body['pagination'] as JsonObject;
  const ids = tokens.map(({ id }) => String(id));
  return { ids, total: Number(pagination['total_items']), tokens, pagination };
}
