import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hashesOf, http, makeVault, run, runJson, startService, type TestVault } from '../support/process.js';

const rules = [
  { description: 'r', priority: 1, container: '/', transform: 'mask', permissions: ['token:read', 'token:create'] },
];
const create = { type: 'card_number', data: '4242424242424242' };

/** The same tests run twice: without a service, and through the control socket of a running service. */
describe.each(['alone', 'through a running service'])('%s', (how) => {
  async function vault(): Promise<TestVault> {
    const made = await makeVault();
    if (how !== 'alone') await startService(made.flags);
    return made;
  }

  test('tenants create creates another tenant, and tenants list shows both', async () => {
    const { flags, tenantId } = await vault();
    const second = await runJson(['tenants', 'create', '--name', 'Second shop', ...flags]);
    expect(Object.keys(second)).toEqual(['tenant_id', 'management_key']);
    const listed = await runJson(['tenants', 'list', ...flags]);
    const { tenants } = listed as { tenants: { name: string }[] };
    expect(tenants.sort((a, b) => b.name.localeCompare(a.name))).toEqual([
      { tenant_id: second['tenant_id'], name: 'Second shop' },
      { tenant_id: tenantId, name: 'default' },
    ]);
    const { code, stdout } = await run(['tenants', 'list', ...flags]);
    const [header, ...lines] = stdout.trim().split('\n');
    expect({ code, header, lines: lines.sort() }).toEqual({
      code: 0,
      header: `ID${' '.repeat(36)}NAME`,
      lines: [`${tenantId}  default`, `${second['tenant_id']}  Second shop`].sort(),
    });
    expect(await run(['tenants', 'create', '--name', 'third', ...flags])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^tenant [0-9a-f-]{36}\nmanagement key, shown only once: sr_management_\w+\n$/),
    });
  });

  test('a tenant name with terminal control characters is rejected', async () => {
    const { flags } = await vault();
    const { code, stderr } = await run(['tenants', 'create', '--name', 'shop\u001b[2J\nfaked line', ...flags]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^name: .*control character/) });
    expect((await runJson(['tenants', 'list', ...flags]))['tenants']).toHaveLength(1);
  });

  test('if there are several tenants, applications create requires the choice of one', async () => {
    const { flags, tenantId } = await vault();
    await runJson(['tenants', 'create', '--name', 'other', ...flags]);
    const args = [
      'applications',
      'create',
      '--name',
      'a',
      '--type',
      'public',
      '--permissions',
      'token:create',
      ...flags,
    ];
    expect(await run(args)).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/--tenant ID/) });
    expect(await run([...args, '--tenant', 'nobody'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/no such tenant.*tenants list/),
    });
    expect(await runJson([...args, '--tenant', tenantId])).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      tenant_id: tenantId,
      name: 'a',
      type: 'public',
      key: expect.stringMatching(/^sr_public_[0-9A-Za-z]{49,}$/),
    });
    expect(await run([...args, '--tenant', tenantId])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^application [0-9a-f-]{36}\nkey, shown only once: sr_public_\w+\n$/),
    });
  });

  test('applications list shows the applications of one tenant, newest first, and never a key', async () => {
    const { flags, tenantId } = await vault();
    const args = ['--name', 'till', '--type', 'public', '--permissions', 'token:create', ...flags];
    const { id, key } = await runJson(['applications', 'create', ...args]);
    const { applications } = (await runJson(['applications', 'list', ...flags])) as { applications: object[] };
    expect(applications).toMatchObject([
      { id, tenant_id: tenantId, name: 'till', type: 'public', permissions: ['token:create'], created_by: 'operator' },
      { name: 'all', type: 'private' },
      { name: 'management', type: 'management' },
    ]);
    const { code, stdout } = await run(['applications', 'list', ...flags]);
    expect({ code, first: stdout.split('\n')[1] }).toEqual({ code: 0, first: `${id}  public      till` });
    expect(JSON.stringify(applications) + stdout).not.toMatch(/sr_|hash/);
    expect(JSON.stringify(applications)).not.toContain(String(key));
    const missing = await run(['applications', 'list', '--tenant', 'nobody', ...flags]);
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringMatching(/no such tenant/) });
  });

  test('permissions that an application may not have are rejected with the reason', async () => {
    const { flags, dir } = await vault();
    const refused = async (args: readonly string[], stdin: string, message: RegExp) => {
      const ended = await run(['applications', 'create', '--name', 'a', ...args, ...flags], { stdin });
      expect(ended, args.join(' ')).toMatchObject({ code: 1, stdout: '' });
      expect(ended.stderr).toMatch(message);
      expect(ended.stderr).not.toMatch(/^\s+at /m);
    };
    await refused(['--type', 'public', '--permissions', 'token:create,token:delete'], '', /permissions\[1\]: /);
    await refused(['--type', 'private', '--permissions', 'token:fly'], '', /permissions\[0\]: /);
    await refused(['--type', 'private', '--rules', '-'], '[]', /rules: /);
    await refused(['--type', 'private', '--rules', '-'], '[{"container":"pci"}]', /rules\[0\]\.container: /);
    await refused(['--type', 'private', '--rules', '-'], 'no json', /must be valid JSON.*array of access rules/s);
    await refused(
      ['--type', 'private', '--rules', '-'],
      '[{"container":"/","priority":1.00000000000000000001}]',
      /at \[0\]\.priority is a number that may lose digits/,
    );
    await refused(['--type', 'private', '--rules', join(dir, 'missing.json')], '', /missing\.json.*ENOENT/);
  });
});

test('a running service immediately accepts the keys that commands create', async () => {
  const { flags, dir } = await makeVault();
  const service = await startService(flags);
  const rulesFile = join(dir, 'rules.json');
  // Some editors begin a file with a byte order mark.
  writeFileSync(rulesFile, `\ufeff${JSON.stringify(rules)}`);
  const application = async (...args: string[]) =>
    String((await runJson(['applications', 'create', '--name', 'a', '--type', 'private', ...args, ...flags]))['key']);

  const byRules = await application('--rules', rulesFile);
  const created = await http('POST', `${service.address}/tokens`, { key: byRules, body: create });
  expect(created).toMatchObject({ status: 201, body: { data: 'XXXXXXXXXXXX4242' } });
  const url = `${service.address}${created.headers.location}`;
  const byPermissions = await application('--permissions', 'token:read, token:delete');
  expect(await http('GET', url, { key: byPermissions })).toMatchObject({ status: 200 });
  expect(await http('DELETE', url, { key: byRules })).toMatchObject({ status: 403 });

  const { tenant_id: other } = await runJson(['tenants', 'create', '--name', 'other', ...flags]);
  const stranger = await application('--permissions', 'token:read', '--tenant', String(other));
  expect(await http('GET', url, { key: stranger })).toMatchObject({ status: 404 });
  expect(await http('DELETE', url, { key: byPermissions })).toMatchObject({ status: 204 });
});

test('a rejected command does not change any data', async () => {
  const { flags, dir } = await makeVault();
  const before = hashesOf(dir);
  await run(['applications', 'create', '--name', 'a', '--type', 'public', '--permissions', 'log:read', ...flags]);
  await run(['applications', 'create', '--name', '', '--type', 'public', '--permissions', 'token:create', ...flags]);
  await run(['tenants', 'create', '--name', 'n'.repeat(201), ...flags]);
  expect(hashesOf(dir)).toEqual(before);
});
