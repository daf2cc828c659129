import { expect, test } from 'vitest';
import { startReceiver } from '../jobs/receiver.js';
import { http, makeVault, run, runJson, startService, until } from '../support/process.js';

const env = { STRONGROOM_WEBHOOKS_ALLOW_PRIVATE_TARGETS: 'true' };

test('a replay makes the running service deliver everything since the given time again', async () => {
  const vault = await makeVault();
  const receiver = await startReceiver();
  const service = await startService(vault.flags, { env });
  try {
    const as = { key: vault.managementKey };
    const body = { url: receiver.url, event_types: ['token.created'] };
    const created = await http('POST', `${service.address}/webhooks`, { ...as, body });
    expect(created.status, JSON.stringify(created.body)).toBe(201);
    const id = String(created.body['id']);
    const token = { id: 'customer-1', type: 'token', data: 1 };
    expect((await http('POST', `${service.address}/tokens`, { key: vault.key, body: token })).status).toBe(201);
    const told = (times: number) =>
      until(`${times} deliveries`, 30_000, () => (receiver.received.length === times ? true : undefined));
    await told(1);
    const replay = ['webhooks', 'replay', id, '--from', '2020-01-01', ...vault.flags];
    expect(await runJson([...replay, '--json'])).toEqual({ webhook_id: id, enabled: true, has_containers: false });
    await told(2);
    const [first, second] = receiver.received;
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    const limited = await http('POST', `${service.address}/webhooks`, {
      ...as,
      body: { ...body, containers: ['/pci/'] },
    });
    const warned = await run([
      'webhooks',
      'replay',
      String(limited.body['id']),
      '--from',
      '2020-01-01',
      ...vault.flags,
    ]);
    expect(warned.stdout).toContain('does not receive the events of tokens that no longer exist');
    const refused = async (args: readonly string[], code: number, text: string) => {
      const ended = await run(['webhooks', 'replay', ...args, ...vault.flags]);
      expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(text) });
    };
    await refused([id, '--from', 'yesterday'], 2, '--from must be a date');
    await refused([id, '--from', '2999-01-01'], 1, 'that moment is in the future.');
    await refused(['unknown', '--from', '2020-01-01'], 1, 'no webhook with this id');
    await refused([id], 2, '--from');
  } finally {
    await service.stop();
    await receiver.close();
  }
});
