import { expect, onTestFinished } from 'vitest';
import { type Answer, startTestService, type TestService } from '../../support/test-service.js';

const noLimits = {
  requests: 0,
  windowMs: 10_000,
  authFailures: 0,
  keylessRequests: 0,
  guesses: 0,
  deduplicationMisses: 0,
};

/** Starts a service with these limits, and closes it when the test ends. */
export async function limitedService(
  limits: Partial<typeof noLimits>,
  options: { readonly trustedProxies?: readonly string[] } = {},
): Promise<TestService> {
  const service = await startTestService({ limits: { ...noLimits, ...limits }, ...options });
  onTestFinished(async () => {
    expect(service.errors).toEqual([]);
    await service.close();
  });
  return service;
}

export async function statuses(count: number, send: () => Promise<Answer>): Promise<readonly number[]> {
  const seen: number[] = [];
  for (let sent = 0; sent < count; sent += 1) seen.push((await send()).status);
  return seen;
}

/** Returns the value in this line of `/metrics`. */
export async function metric({ service }: TestService, line: string): Promise<number> {
  const { text } = await service.metrics.render(await service.state());
  const found = text.split('\n').find((candidate) => candidate.startsWith(`${line} `));
  return Number(found?.slice(line.length + 1) ?? Number.NaN);
}
