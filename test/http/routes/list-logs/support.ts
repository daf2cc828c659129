import { expect } from 'vitest';
import type { JsonObject } from '#src/domain/json.js';
import type { TestService } from '../../../support/test-service.js';

/** Sends `GET /logs` with a management key, and returns the entries. */
export async function logs(service: TestService, query: Readonly<Record<string, string>> = {}): Promise<JsonObject[]> {
  const answer = await logsAnswer(service, query);
  return answer['data'] as JsonObject[];
}

export async function logsAnswer(
  service: TestService,
  query: Readonly<Record<string, string>> = {},
): Promise<JsonObject> {
  const url = `/logs?${new URLSearchParams({ size: '100', ...query })}`;
  const answer = await service.call('GET', url, undefined, { key: service.managementKey });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.headers['cache-control']).toBe('no-store');
  return answer.body;
}

/** Returns the operation and the outcome of every entry about an entity, oldest first. */
export async function operationsOn(service: TestService, id: string): Promise<string[]> {
  const entries = await logs(service, { entity_id: id });
  return entries
    .map(({ operation, outcome }) => (outcome === 'success' ? `${operation}` : `${operation} ${outcome}`))
    .reverse();
}
