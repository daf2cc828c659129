import { randomBytes, randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApplication } from '#src/commands/tenancy/applications.js';
import { createTenant } from '#src/commands/tenancy/create-tenant.js';
import { startTestService, type TestService } from '../support/test-service.js';
import { countBytes, filesOf, findTexts } from './files.js';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

/** Every value stored by a test, keyed by a description of the value. */
const planted: Record<string, string> = {};

function plant(what: string, text = `mk${randomBytes(12).toString('hex')}`): string {
  planted[what] = text;
  return text;
}

/**
 * Returns a card number that passes the Luhn check (ISO/IEC 7812-1). The number has 19 digits, so it does not occur in
 * a file by chance.
 */
function plantCardNumber(what: string): string {
  const digits = [4, ...Array.from({ length: 17 }, () => randomInt(10))];
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const doubled = index % 2 === 0 ? digit * 2 : digit;
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return plant(what, [...digits, (10 - (sum % 10)) % 10].join(''));
}

function aBody(name: string, further: object = {}) {
  return {
    id: plant(`${name}: id`, `ü@${randomBytes(12).toString('hex')}`),
    type: 'token',
    data: {
      [plant(`${name}: key in data`)]: [{ deep: [plant(`${name}: data, nested`)] }, null],
      special: plant(`${name}: data, special`, `é"\\\n😀${randomBytes(12).toString('hex')}`),
      number: Number(plant(`${name}: number`, String(randomInt(2 ** 47, 2 ** 48 - 1)))),
    },
    mask: { literal: plant(`${name}: mask`), shown: '{{ data.special | last4 }}' },
    metadata: { [plant(`${name}: metadata key`)]: plant(`${name}: metadata value`) },
    containers: [`/${plant(`${name}: container`)}/`],
    search_indexes: [`${plant(`${name}: index literal`)}{{ data.special | last4 }}`],
    fingerprint_expression: `${plant(`${name}: fingerprint literal`)}{{ data.special }}`,
    ...further,
  };
}

function headersOf(name: string) {
  return {
    'service-idempotency-key': plant(`${name}: idempotency key`),
    'service-trace-id': plant(`${name}: trace id`),
  };
}

async function call(...[method, url, body, headers]: ['GET' | 'POST' | 'PATCH' | 'DELETE', string, unknown?, object?]) {
  const answer = await service.call(method, url, body, { headers: { ...headers } });
  expect(answer.status, `${method}: ${answer.text}`).toBeLessThan(300);
  return answer;
}

async function live(name: string, further: object = {}): Promise<{ readonly url: string; readonly text: string }> {
  const body = aBody(name, further);
  await call('POST', '/tokens', body, headersOf(name));
  const url = `/tokens/${encodeURIComponent(body.id)}`;
  return { url, text: (await call('GET', url, undefined, headersOf(`${name}, read`))).text };
}

async function patch(url: string, name: string): Promise<void> {
  const { id: _id, type: _type, ...changes } = aBody(name);
  await call('PATCH', url, changes, headersOf(name));
}

test('no file contains a stored value in a readable form, not even the value of a live token', async () => {
  const { clock, vault } = service;
  const actor = { kind: 'operator' } as const;
  const context = { tenantId: service.tenantId, actor, traceId: plant('operator: trace id') };
  const access = { kind: 'permissions', permissions: [] } as const;
  const spec = { name: plant('application name'), type: 'private', access, expiresAt: null } as const;
  await createApplication(vault, context, spec);
  const tenant = await createTenant(vault, plant('tenant name'), []);
  plant('key of an application', service.key);
  plant('key of management', service.managementKey);
  plant('key of another tenant', tenant.managementKey.reveal());

  const living = await live('living');
  expect(living.text).toContain(planted['living: data, nested']);
  const changed = await live('changed');
  await patch(changed.url, 'change');
  const deleted = await live('deleted');
  await patch(deleted.url, 'deleted, changed');
  await call('DELETE', deleted.url, undefined, headersOf('delete'));
  const expires_at = new Date(clock.now() + 60_000).toISOString();
  await live('expired', { expires_at });
  const card = {
    id: plant('card: id', `card@${randomBytes(12).toString('hex')}`),
    type: 'card',
    data: { number: plantCardNumber('card: number'), expiration_month: 12, expiration_year: 2031, cvc: '8085' },
  };
  await call('POST', '/tokens', card, headersOf('card'));
  const cardUrl = `/tokens/${encodeURIComponent(card.id)}`;
  await call(
    'PATCH',
    cardUrl,
    { data: { number: plantCardNumber('card: new number'), cvc: '8085' } },
    headersOf('card, changed'),
  );
  await call('DELETE', `${cardUrl}/cvc`, undefined, headersOf('card, purged'));

  const refused = aBody('refused', { expires_at: '2/30/2026' });
  expect((await service.call('POST', '/tokens', refused, { headers: headersOf('refused') })).status).toBe(400);
  expect((await service.call('GET', `/tokens/${plant('unknown id')}`)).status).toBe(404);

  clock.advance(60_000);
  await service.service.sweep.run();
  expect(Object.keys(planted).length).toBeGreaterThan(80);
  expect(findTexts(filesOf(service.dataDir), planted), 'while the service runs').toEqual([]);
});

/**
 * The code is so short that it occurs by chance in the hex digits of a file. The number of such occurrences is much
 * lower than the number of cards with this code.
 */
const cvc = '8085';
const cardsWithCvc = 200;

test('no file contains a cvc, either as JSON or as the plaintext of its ciphertext', async () => {
  for (let count = 0; count < cardsWithCvc; count += 1) {
    const data = { number: '4242424242424242', expiration_month: 12, expiration_year: 2031, cvc };
    await call('POST', '/tokens', { type: 'card', data });
  }
  const files = filesOf(service.dataDir);
  for (const text of [`"cvc":"${cvc}"`, `"cvc":${cvc}`, `"${cvc}" `, `\\"${cvc}\\"`]) {
    expect(countBytes(files, Buffer.from(text)), text).toBe(0);
  }
});

test('after the service has stopped, no file contains a stored value or a cvc in a readable form either', async () => {
  await service.stop();
  const files = filesOf(service.dataDir);
  expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining(['vault.db', 'keys.db']));
  expect(findTexts(files, planted)).toEqual([]);
  const utf16le = Buffer.from(cvc, 'utf16le');
  const hex = Buffer.from(Buffer.from(cvc).toString('hex'));
  for (const bytes of [Buffer.from(cvc), utf16le, Buffer.from(utf16le).swap16(), hex]) {
    expect(countBytes(files, bytes), bytes.toString('hex')).toBeLessThan(cardsWithCvc / 2);
  }
  service = await startTestService({ dataDir: service.dataDir, rootKey: service.rootKey });
  expect(findTexts(filesOf(service.dataDir), planted)).toEqual([]);
});
