import { expect } from 'vitest';
import type { TestService } from '../../../support/test-service.js';

type Suggestion = { readonly text: string; readonly kind: string };

/** Requests suggestions once. Returns the response even if the vocabulary is not ready. */
export async function suggestNow(service: TestService, prefix?: string, key?: string): Promise<readonly Suggestion[]> {
  const query = prefix === undefined ? '' : `?prefix=${encodeURIComponent(prefix)}`;
  const options = key === undefined ? {} : { key };
  const answer = await service.call('GET', `/tokens/search/suggestions${query}`, undefined, options);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(Object.keys(answer.body)).toEqual(['suggestions']);
  const { suggestions } = JSON.parse(answer.text) as { readonly suggestions: readonly Suggestion[] };
  return suggestions;
}

/** Waits until the service has collected its vocabulary. Then requests suggestions, and returns their texts. */
export async function suggest(service: TestService, prefix: string, key?: string): Promise<readonly string[]> {
  await collected(service);
  return (await suggestNow(service, prefix, key)).map(({ text }) => text);
}

/** Makes the service collect its vocabulary if a collection is due, and waits until the collection is complete. */
export async function collected(service: TestService): Promise<void> {
  await suggestNow(service, 'x');
  await service.vault.vocabularies.idle();
}

export const refreshMs = 10 * 60_000;

/** Makes the vocabulary so old that the next request begins a new collection. */
export function makeStale(service: TestService): void {
  service.clock.advance(refreshMs);
}
