import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate } from '../../support/certificate.js';
import { makeVault, startService, tempDir } from '../../support/process.js';
import { blocksIn, samplesAt } from '../readme-blocks.js';
import { startRecordedService } from '../recorded-service.js';

const root = resolve(import.meta.dirname, '../../..');
const home = join(root, 'clients/typescript');
let project: string;
let recorded: Awaited<ReturnType<typeof startRecordedService>>;

async function run(program: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}) {
  const options = { cwd, env: { ...process.env, ...env } };
  const { stdout } = await promisify(execFile)(program, args, options).catch((error: unknown) => {
    throw new Error(String(error) + (error as { stdout?: string }).stdout);
  });
  return stdout;
}

/** Creates a project like a user's own, and installs the built client in it as npm would. */
beforeAll(async () => {
  recorded = await startRecordedService();
  project = mkdtempSync(join(tmpdir(), 'strongroom-client-'));
  const installed = join(project, 'node_modules/@strongroom/client');
  mkdirSync(installed, { recursive: true });
  await run(join(root, 'node_modules/.bin/tsc'), ['-p', home, '--outDir', join(installed, 'dist')], root);
  cpSync(join(home, 'package.json'), join(installed, 'package.json'));
  mkdirSync(join(project, 'node_modules/@types'));
  symlinkSync(join(root, 'node_modules/@types/node'), join(project, 'node_modules/@types/node'));
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
});
afterAll(async () => {
  await recorded.service.close();
  rmSync(project, { recursive: true, force: true });
});

const compilerFlags = [
  '--strict',
  '--exactOptionalPropertyTypes',
  '--target',
  'es2023',
  '--module',
  'nodenext',
  '--types',
  'node',
];

test('every example of the README compiles and runs against a real vault', async () => {
  const { address, service, called } = recorded;
  const outputs: string[] = [];
  for (const [index, code] of blocksIn(join(home, 'README.md'), 'ts').entries()) {
    const file = join(project, `example-${index}.ts`);
    writeFileSync(file, code);
    await run(join(root, 'node_modules/.bin/tsc'), [...compilerFlags, file], project);
    const env = { STRONGROOM_ADDRESS: address, STRONGROOM_API_KEY: service.key };
    outputs.push(await run(process.execPath, [file.replace(/ts$/, 'js')], project, env));
  }
  expect(outputs).toEqual(['card\n', 'token_not_found 404\n', 'card\n', '1\n']);
  expect(called()).toEqual(['createToken', 'getToken', 'listTokensV2']);
});

test('every TypeScript sample in the reference compiles, and each operation has a sample', async () => {
  const samples = await samplesAt(recorded.address, 'typescript');
  const file = join(project, 'samples.ts');
  writeFileSync(
    file,
    `import { createClient } from '@strongroom/client';
const vault = createClient({ address: 'http://localhost', apiKey: 'sr_example' });
declare const tokenId: string, applicationId: string, webhookId: string, keyId: string, code: string;
${samples.map((code) => `export async function sample${samples.indexOf(code)}() {\n${code}\n}`).join('\n')}\n`,
  );
  await run(join(root, 'node_modules/.bin/tsc'), [...compilerFlags, '--noEmit', file], project);
  expect(samples.length).toBe(recorded.all.length);
});

test('the client verifies the service’s certificate, and accepts a certificate authority that the user specifies', async () => {
  const { flags, key } = await makeVault();
  const { cert, key: tlsKey } = makeCertificate(tempDir(), 'vault');
  const { address } = await startService([...flags, '--tls-cert', cert, '--tls-key', tlsKey]);
  expect(address).toMatch(/^https:/);
  const file = join(project, 'tls.js');
  writeFileSync(
    file,
    `import { createClient } from '@strongroom/client';
const vault = createClient({ address: process.env.STRONGROOM_ADDRESS, apiKey: process.env.STRONGROOM_API_KEY, retriesMax: 0 });
const outcome = vault.createToken({ body: { type: 'token', data: 'x' } }).then(({ type }) => type, ({ code }) => code);
console.log(await outcome);
`,
  );
  const env = { STRONGROOM_ADDRESS: address, STRONGROOM_API_KEY: key };
  expect(await run(process.execPath, [file], project, env)).toBe('connection_failed\n');
  expect(await run(process.execPath, [file], project, { ...env, NODE_EXTRA_CA_CERTS: cert })).toBe('token\n');
});
