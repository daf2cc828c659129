import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { http, startService } from '../support/process.js';
import { vaultOnServers } from './rebuild/support.js';

test('a list cursor or search cursor from one API process works in another', async () => {
  const { options, key } = await vaultOnServers();
  const services = [await startService(['--role', 'api'], options), await startService(['--role', 'api'], options)];
  const ids = Array.from({ length: 7 }, () => randomUUID());
  for (const [index, id] of ids.entries()) {
    const body = { id, type: 'token', data: `value ${index}` };
    expect((await http('POST', `${services[index % 2]?.address}/tokens`, { key, body })).status).toBe(201);
  }
  const newestFirst = [...ids].reverse();

  const page = async (turn: number, kind: 'list' | 'search', start: unknown) => {
    const address = services[turn % 2]?.address;
    const at = start === undefined ? {} : { start };
    const { status, body } =
      kind === 'list'
        ? await http('GET', `${address}/v2/tokens?size=2${start === undefined ? '' : `&start=${start}`}`, { key })
        : await http('POST', `${address}/v2/tokens/search`, { key, body: { query: 'type:token', size: 2, ...at } });
    expect(status).toBe(200);
    const { data, pagination } = body as { data: { id: string }[]; pagination: { next: string | null } };
    return { ids: data.map(({ id }) => id), next: pagination.next };
  };
  for (const kind of ['list', 'search'] as const) {
    const found: string[] = [];
    let next: string | null | undefined;
    for (let turn = 0; turn < 10 && next !== null; turn += 1) {
      const one = await page(turn, kind, next);
      found.push(...one.ids);
      next = one.next;
    }
    expect(found, kind).toEqual(newestFirst);
  }
});
