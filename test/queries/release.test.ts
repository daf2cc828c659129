import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect, test, vi } from 'vitest';
import { finish } from '#src/domain/steps.js';
import { getToken } from '#src/queries/get-token.js';
import { release } from '#src/queries/release.js';
import { create, createPlain, hourMs } from '../http/routes/support.js';
import { startTestService } from '../support/test-service.js';

test('a token can be rendered only after it was recorded with its transform', async () => {
  const service = await startTestService();
  const { id } = await createPlain(service, { data: 'the-value' });
  const caller = await service.service.authenticate(service.key);
  if (caller === null) throw new Error('the key is good');
  const context = { caller, traceId: 'trace', beganAt: performance.now() };
  const found = await getToken(service.vault, context, id);
  if (!found.ok) throw new Error('the token is there');
  const token = found.value;

  const withheld = await release(service.vault, context, [
    { stream: token.stream, transform: 'redact', recordedAs: 'read' },
  ]);
  expect(() => finish(withheld(token))).toThrow('must be recorded as shown');
  const created = await release(service.vault, context, [{ ...token, recordedAs: 'create' }]);
  expect(() => finish(created(token))).toThrow('must be recorded as shown');
  const none = await release(service.vault, context, []);
  expect(() => finish(none(token))).toThrow('must be recorded as shown');
  const render = await release(service.vault, context, [token]);
  expect(finish(render(token))?.['data']).toBe('the-value');
  await service.close();
});

test('every response is confirmed to be current, even without tokens, unless it shows only tokens that it changed', async () => {
  const service = await startTestService();
  const caller = await service.service.authenticate(service.key);
  if (caller === null) throw new Error('the key is good');
  const context = { caller, traceId: 'trace', beganAt: performance.now() };
  const confirmReads = vi.fn(async () => undefined);
  const read = { stream: `token-${'ab'.repeat(32)}`, transform: 'mask', recordedAs: 'read' } as const;
  const created = { ...read, recordedAs: 'create' } as const;
  const calls = [];
  for (const shown of [[], [read], [created], [created, read]]) {
    confirmReads.mockClear();
    await release({ ...service.vault, confirmReads }, context, shown);
    calls.push(confirmReads.mock.calls.length);
  }
  expect(calls).toEqual([1, 1, 0, 1]);
  await service.close();
});

test('a code whose time to be purged comes between reading and rendering is not shown', async () => {
  const service = await startTestService();
  const data = { number: '4242424242424242', cvc: '123' };
  const { id } = await create(service, { type: 'card', data });
  const caller = await service.service.authenticate(service.key);
  if (caller === null) throw new Error('the key is good');
  const context = { caller, traceId: 'trace', beganAt: performance.now() };
  const found = await getToken(service.vault, context, id);
  if (!found.ok) throw new Error('the token is there');
  const render = await release(service.vault, context, [found.value]);
  service.clock.advance(hourMs - 1);
  expect(finish(render(found.value))?.['data']).toEqual(data);
  service.clock.advance(1);
  expect(finish(render(found.value))?.['data']).toEqual({ number: data.number });
  await service.close();
});

test('the result of a query does not show data until it is rendered', async () => {
  const service = await startTestService();
  const { id } = await createPlain(service, { data: 'the-value', metadata: { note: 'the-note' } });
  const caller = await service.service.authenticate(service.key);
  if (caller === null) throw new Error('the key is good');
  const found = await getToken(service.vault, { caller, beganAt: performance.now() }, id);
  const seen = `${JSON.stringify(found)} ${inspect(found, { depth: null, showHidden: true })}`;
  expect(seen).toContain(id);
  expect(seen).not.toContain('the-value');
  expect(seen).not.toContain('the-note');
  await service.close();
});

test('a route that imports the code for reading decrypted data fails the import check', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-imports-'));
  for (const part of ['src', 'package.json', 'tsconfig.json', 'dependency-cruiser.config.cjs']) {
    await cp(part, join(folder, part), { recursive: true });
  }
  await symlink(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
  expect(await cruise(folder)).toContain('no dependency violations');
  const leak = `import { unwrap } from '../../vault/unwrap.js';\nexport const leak = unwrap;\n`;
  await writeFile(join(folder, 'src/http/routes/leak.ts'), leak);
  expect(await cruise(folder)).toMatch(/decrypted-data: .*src\/http\/routes\/leak\.ts → .*src\/vault\/unwrap\.ts/);
  await rm(folder, { recursive: true });
});

function cruise(folder: string): Promise<string> {
  const config = ['--config', 'dependency-cruiser.config.cjs', '--output-type', 'err', 'src'];
  const run = join('node_modules', 'dependency-cruiser', 'bin', 'dependency-cruise.mjs');
  return new Promise((resolve) => {
    execFile(process.execPath, [run, ...config], { cwd: folder }, (_error, stdout) => resolve(stdout));
  });
}
