import { expect, test } from 'vitest';
import type { Answers } from '#src/cli/operations.js';
import { embeddedOnly } from '../support/profile.js';
import { startTestService } from '../support/test-service.js';
import { operate } from './operate.js';

/** The serving thread encodes a page of this size in about 10 ms. */
const pageTextMax = 3_000_000;

test('pages of the log that contain large events are short, so that an export does not delay other requests', async (context) => {
  embeddedOnly(context, 'the test knows the position of each event');
  const service = await startTestService();
  try {
    const { head: before } = await operate(service.service, 'audit-begin', { from: 1, exports: false });
    const create = (count: number, data: string) =>
      Promise.all(Array.from({ length: count }, () => service.call('POST', '/tokens', { type: 'token', data })));
    // The reads of the small events prepare for a long read of the large ones.
    await create(60, 'small');
    await create(12, 'x'.repeat(500_000));
    await create(300, 'small');
    const { head } = await operate(service.service, 'audit-begin', { from: 1, exports: false });
    const pages: Answers['audit-events'][] = [];
    for (let after: number | null = before.position; after !== null; after = pages.at(-1)?.next ?? null) {
      pages.push(await operate(service.service, 'audit-events', { after, upTo: head.position }));
    }
    const positions = pages.flatMap(({ lines }) => lines.map(({ position }) => position));
    expect(positions).toEqual([...Array(head.position - before.position)].map((_, i) => before.position + 1 + i));
    expect(Math.max(...pages.map((page) => JSON.stringify(page).length))).toBeLessThan(pageTextMax);
    expect(pages.every(({ forged }) => forged === null)).toBe(true);
  } finally {
    await service.close();
  }
});
