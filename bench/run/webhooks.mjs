import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import { startLimit, startLoadGenerator, strongroomJson } from './processes.mjs';
import { createFresh, sideBySide } from './rounds.mjs';
import { makeVault } from './vault.mjs';

const work = 'create card';
const stored = 500;
const sizes = {
  quick: { count: 500, rounds: 2, warmUpSeconds: 0.5 },
  normal: { count: 6_000, rounds: 16, warmUpSeconds: 5 },
  full: { count: 10_000, rounds: 20, warmUpSeconds: 5 },
};
const connectionCounts = [1, 16, 64];
/**
 * How long to wait after a webhook is created or deleted. The service notices the change after slightly more than one
 * second.
 */
const noticedMs = 1_500;

/**
 * Measures how much a webhook slows down creates in the same vault. Rounds with the webhook alternate with rounds
 * without it. A round with the webhook begins once the service has noticed that the webhook exists, and the service
 * delivers events from the first create request on. A round without the webhook begins once the service has noticed the
 * deletion, and the service delivers nothing in that round. `delivered` is the fraction of a round's events that
 * arrived before the round ended.
 */
export async function measureWebhooks({ directory, mode, say }) {
  const { count, rounds, warmUpSeconds } = sizes[mode];
  const vault = await makeVault(join(directory, 'webhooks'), stored);
  const permissions = 'webhook:create,webhook:read,webhook:delete';
  const application = ['--name', 'webhooks', '--type', 'management', '--permissions', permissions];
  const { key } = await strongroomJson(['applications', 'create', ...vault.flags, ...application]);
  process.env.STRONGROOM_WEBHOOKS_ALLOW_PRIVATE_TARGETS = 'true';
  const service = await vault.start();
  const receiver = await startLimit('webhook-receiver', []);
  const generator = startLoadGenerator();
  const fresh = createFresh(10_000_000);
  let webhook = null;
  async function ask(method, path, body) {
    const headers = {
      'service-api-key': key,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const response = await request(`${service.origin}${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${text}`);
    return text === '' ? null : JSON.parse(text);
  }
  let arrivedBefore = 0;
  let created = 0;
  async function arrived() {
    const response = await request(`${receiver.origin}/arrived`);
    return (await response.body.json()).arrived;
  }
  async function without() {
    if (webhook !== null) await ask('DELETE', `/webhooks/${webhook}`);
    webhook = null;
    await wait(noticedMs);
  }
  async function withOne(_first, count) {
    await without();
    webhook = (await ask('POST', '/webhooks', { url: receiver.origin, event_types: ['token.created'] })).id;
    await wait(noticedMs);
    [arrivedBefore, created] = [await arrived(), count];
  }
  const delivered = async () => ({ delivered: ((await arrived()) - arrivedBefore) / created });
  try {
    const table = [];
    for (const connections of connectionCounts) {
      say(`${work}, ${connections} connections`);
      const common = { origins: [service.origin], keys: vault.keys, stored, pid: service.pid };
      const share = connections === 1 ? 0.2 : connections === 16 ? 0.5 : 1;
      table.push(
        await sideBySide(generator, {
          work,
          connections,
          rounds,
          warmUpSeconds,
          fresh,
          count: Math.ceil(count * share),
          competitors: [
            { ...common, name: 'with', prepare: withOne, counts: delivered },
            { ...common, name: 'without', prepare: without },
          ],
        }),
      );
    }
    return { webhooks: { rounds, table } };
  } finally {
    await generator.stop();
    await receiver.stop();
    await service.stop();
  }
}
