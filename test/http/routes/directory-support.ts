import { expect } from 'vitest';
import type { ManagementPermission } from '#src/domain/access/permission.js';
import type { JsonObject } from '#src/domain/json.js';
import type { Answer, TestService } from '../../support/test-service.js';

export type Made = { readonly id: string; readonly key: string; readonly body: JsonObject };

export const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
export const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);

/** Sends a request with a key that has all management permissions. An option can select another key. */
export function manage(
  service: TestService,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  body?: unknown,
  key = service.managementKey,
): Promise<Answer> {
  return service.call(method, url, body, { key });
}

/** Creates an application over HTTP. If the request fails, the failure message contains the response. */
export async function makeApplication(service: TestService, fields: object = {}, key?: string): Promise<Made> {
  const body = { name: 'made', type: 'private', permissions: ['token:read'], ...fields };
  const answer = await manage(service, 'POST', '/applications', body, key);
  expect(answer.status, answer.text).toBe(201);
  return { id: String(answer.body['id']), key: String(answer.body['key']), body: answer.body };
}

export function makeManager(service: TestService, permissions: readonly ManagementPermission[], key?: string) {
  return makeApplication(service, { type: 'management', permissions }, key);
}

/** Returns the id of the application that a key belongs to. */
export async function ownId(service: TestService, key: string): Promise<string> {
  return String((await service.call('GET', '/applications/key', undefined, { key })).body['id']);
}

/** Returns 200 while the key's application exists and has not expired. Returns 401 after that. */
export async function statusOf(service: TestService, key: string): Promise<number> {
  return (await service.call('GET', '/applications/key', undefined, { key })).status;
}

/** Returns the body of a response as an array of objects. */
export function arrayOf({ text }: Answer): JsonObject[] {
  return JSON.parse(text) as JsonObject[];
}
