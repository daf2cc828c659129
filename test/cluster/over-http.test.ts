import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, startService, tempDir } from '../support/process.js';
import { vaultOnServers } from './rebuild/support.js';

test('a command prints the same at the address of an API process as on the stores', async () => {
  const { options, key } = await vaultOnServers();
  const { address } = await startService(['--role', 'api'], options);
  const keyFile = join(tempDir(), 'key');
  writeFileSync(keyFile, key, { mode: 0o600 });
  const local = (args: readonly string[]) => run(['tokens', ...args, '--api-key-file', keyFile], options);
  const remote = (args: readonly string[], stdin = '') =>
    run(['tokens', ...args, '--address', address, '--api-key-file', keyFile], { stdin });

  const created = await remote(['create'], '{"id":"over-http","type":"social_security_number","data":"123-45-6789"}');
  expect(created).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('"data": "123-45-6789"') });
  const commands = [
    ['get', 'over-http'],
    ['search', 'data:6789'],
    ['search', 'type:card', '--json'],
    ['get', 'not-there'],
  ];
  for (const args of commands) expect(await remote(args), args.join(' ')).toEqual(await local(args));
  expect(await local(['get', 'over-http'])).toMatchObject({ code: 0, stdout: created.stdout });
  expect(await remote(['delete', 'over-http'])).toMatchObject({ code: 0, stdout: 'deleted\n', stderr: '' });
  expect(await remote(['delete', 'over-http'])).toEqual(await local(['delete', 'over-http']));
});
