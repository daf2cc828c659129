import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeCertificate } from '../../support/certificate.js';
import { makeVault, startService, tempDir } from '../../support/process.js';
import { startHostileServer } from '../hostile-server.js';
import { blocksIn, samplesAt } from '../readme-blocks.js';
import { startRecordedService } from '../recorded-service.js';
import { bin, home, root, run } from './run.js';

test('the generated part of the Python client matches the OpenAPI document', async () => {
  await run(process.execPath, ['scripts/generate-clients.mjs', '--check', 'python'], {}, root);
});

test('mypy in strict mode and ruff report no problems in the Python client', async () => {
  expect(await run(join(bin, 'mypy'), ['-p', 'strongroom', '-p', 'tests'])).toMatch(
    /Success: no issues found in \d{3}/,
  );
  await run(join(bin, 'ruff'), ['check', 'strongroom', 'tests']);
  await run(join(bin, 'ruff'), ['format', '--check', 'strongroom', 'tests']);
});

test('the Python client keeps its guarantees against a hostile server', async () => {
  const server = await startHostileServer();
  try {
    const output = await run(join(bin, 'python'), ['-m', 'tests.hostile'], { HOSTILE_ADDRESS: server.address });
    expect(output).toMatch(/Ran 22 tests/);
  } finally {
    await server.close();
  }
});

test('every example in the Python client’s README runs against a real vault', async () => {
  const { service, address, called } = await startRecordedService();
  const env = { STRONGROOM_ADDRESS: address, STRONGROOM_API_KEY: service.key };
  try {
    const outputs: string[] = [];
    for (const code of blocksIn(join(home, 'README.md'), 'python')) {
      outputs.push(await run(join(bin, 'python'), ['-c', code], env));
    }
    expect(outputs).toEqual(['card\n', 'token_not_found 404\n', 'card\n', '1\n']);
    expect(called()).toEqual(['createToken', 'getToken', 'listTokensV2']);
  } finally {
    await service.close();
  }
});

test('mypy accepts every Python sample in the reference, and each operation has a sample', async () => {
  const { service, address, all } = await startRecordedService();
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-samples-'));
  try {
    const samples = await samplesAt(address, 'python');
    const functions = samples.map((code, index) => {
      const ids = ['token_id', 'application_id', 'webhook_id', 'key_id', 'code']
        .map((name) => `${name}: str`)
        .join(', ');
      return `def sample_${index}(vault: Strongroom, ${ids}) -> None:\n    ${code.replaceAll('\n', '\n    ')}\n`;
    });
    const file = join(folder, 'samples.py');
    await writeFile(file, `from strongroom import Strongroom\n\n\n${functions.join('\n\n')}`);
    expect(await run(join(bin, 'mypy'), ['--strict', file])).toContain('Success: no issues found');
    expect(samples.length).toBe(all.length);
  } finally {
    await rm(folder, { recursive: true });
    await service.close();
  }
});

test('the Python client verifies the service’s certificate, and accepts a certificate authority that the user specifies', async () => {
  const { flags, key } = await makeVault();
  const { cert, key: tlsKey } = makeCertificate(tempDir(), 'vault');
  const { address } = await startService([...flags, '--tls-cert', cert, '--tls-key', tlsKey]);
  const program = `
import os, ssl
from strongroom import Strongroom, StrongroomError
from strongroom.models import CreateTokenBody

for tls in (None, ssl.create_default_context(cafile=os.environ["CERTIFICATE"])):
    options = {} if tls is None else {"tls": tls}
    try:
        with Strongroom(os.environ["STRONGROOM_ADDRESS"], os.environ["STRONGROOM_API_KEY"], retries_max=0, **options) as vault:
            print(vault.create_token(body=CreateTokenBody(type_="token", data="x")).type_)
    except StrongroomError as error:
        print(error.code)
`;
  const env = { STRONGROOM_ADDRESS: address, STRONGROOM_API_KEY: key, CERTIFICATE: cert };
  expect(await run(join(bin, 'python'), ['-c', program], env)).toBe('connection_failed\ntoken\n');
});
