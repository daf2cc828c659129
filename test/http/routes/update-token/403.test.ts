import { describe, expect, vi } from 'vitest';
import type { AccessRule } from '#src/domain/access/access-rule.js';
import type { JsonObject } from '#src/domain/json.js';
import { streamOf } from '../../../erasure/support.js';
import { rule } from '../../../support/test-service.js';
import { card, create, createPlain, expectRefusal, path, read, test } from '../support.js';

const forbidden = { status: 403, code: 'forbidden' };
const revealRequired = { status: 403, code: 'reveal_required' };

describe('403 the permission is missing, which is checked before the media type, the body and the id', () => {
  test.for([
    ['permissions without it', ['token:create', 'token:read', 'token:use'], 'private'],
    ['a public application that may only create', ['token:create'], 'public'],
    ['rules without it', [rule('/', 'reveal', ['token:read', 'token:use'])], 'private'],
  ] as const)('%s', async ([, access, type], { service }) => {
    const key = await service.application([...access] as AccessRule[], type);
    const headers = { 'content-type': 'text/plain' };
    const send = () => service.call('PATCH', '/tokens/unknown', undefined, { key, headers, raw: '{' });
    await expectRefusal(service, send, { status: 403, code: 'permission_missing' });
  });
});

describe('403 no rule grants token:update on this token', () => {
  test('if it is in another container; for an unknown token, the same caller gets 404', async ({ service }) => {
    const { id } = await createPlain(service, { containers: ['/b/'] });
    const key = await service.application([
      rule('/a/', 'reveal', ['token:update']),
      rule('/b/', 'reveal', ['token:read']),
    ]);
    await expectRefusal(service, () => service.call('PATCH', path(id), { data: 1 }, { key }), forbidden);
    const unknown = () => service.call('PATCH', '/tokens/unknown', { data: 1 }, { key });
    await expectRefusal(service, unknown, { status: 404, code: 'token_not_found' });
  });

  test('even if the log first returns the token as it was before it moved', async ({ service }) => {
    const { id } = await createPlain(service, { containers: ['/a/'], data: 'hidden' });
    const older = await service.vault.log.readFrom(await streamOf(service, id), 0, 8);
    expect((await service.call('PATCH', path(id), { containers: ['/b/'] })).status).toBe(200);
    const key = await service.application([rule('/a/', 'reveal', ['token:read', 'token:update'])]);
    // Without a row, the embedded profile reads the log, too.
    const rows = vi.spyOn(service.vault.rows, 'get').mockResolvedValueOnce(null);
    const log = vi.spyOn(service.vault.log, 'readFrom').mockResolvedValueOnce(older);
    const answer = await service.call('PATCH', path(id), { containers: ['/a/'] }, { key });
    expect(log).toHaveBeenCalled();
    rows.mockRestore();
    log.mockRestore();
    expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(answer.text).not.toContain('hidden');
  });

  test('before errors that depend on stored data, and before 412', async ({ service }) => {
    const { id } = await create(service, { type: 'card', data: card, containers: ['/b/'] });
    const key = await service.application([rule('/a/', 'reveal', ['token:update'])]);
    const headers = { 'if-match': '"7"' };
    for (const patch of [{ data: 1 }, { id: 'x' }, { type: 'x' }, { metadata: { a: card.number } }]) {
      await expectRefusal(service, () => service.call('PATCH', path(id), patch, { key, headers }), forbidden);
    }
  });
});

describe('403 changing expressions requires reveal, so that an attacker cannot write a program over data that it cannot see', () => {
  const secret = { number: '4242424242424242', name: 'Alice' };
  const attacks: readonly JsonObject[] = [
    { mask: '{{ data.number }}' },
    { mask: { number: '{{ data.number }}' } },
    { mask: { expiration_month: '{{ data.number | slice: 0, 8 }}' } },
    { mask: null },
    { mask: { number: null } },
    { search_indexes: ['{{ data.number | slice: 0, 1 }}'] },
    { search_indexes: [] },
    { search_indexes: null },
    // This expression cannot be evaluated. The failure must not be reported, because it would reveal something about
    // the data.
    { search_indexes: ['{{ data.none }}'] },
    { fingerprint_expression: '{{ data.number | slice: 0, 1 }}' },
    { fingerprint_expression: '{{ data.none }}' },
    { fingerprint_expression: null, deduplicate_token: true },
    { mask: '{{ data }}', data: { name: 'x' } },
    { mask: '{{ data }}', metadata: { number: secret.number } },
    { mask: '{{ data }}', type: 'token' },
  ];
  const attackers = [
    ['plain permissions without token:use', ['token:read', 'token:update', 'token:search', 'token:create'], 'private'],
    ['a public application', ['token:create', 'token:update'], 'public'],
    ['a rule that masks', [rule('/', 'mask', ['token:read', 'token:update', 'token:use'])], 'private'],
    ['reveal only for updates', [rule('/', 'reveal', ['token:update', 'token:search'])], 'private'],
    [
      'reveal in the second rule',
      [
        rule('/', 'mask', ['token:read', 'token:use'], 1),
        rule('/', 'reveal', ['token:read', 'token:use', 'token:update'], 2),
      ],
      'private',
    ],
    [
      'reveal on another container',
      [rule('/open/', 'reveal', ['token:read', 'token:use']), rule('/', 'mask', ['token:read', 'token:update'])],
      'private',
    ],
    [
      'a public application, even with a rule that no public application can be given',
      [rule('/', 'reveal', ['token:read', 'token:use', 'token:update'])],
      'public',
    ],
    ['a public application with a rule that reveals', [rule('/', 'reveal', ['token:update'])], 'public'],
  ] as const;

  test.for(attackers)('%s', async ([, access, type], { service }) => {
    const token = { type: 'card', data: secret, mask: { number: 'hidden', name: '{{ data.name }}' } };
    const created = await create(service, { ...token, search_indexes: ['x'], fingerprint_expression: 'y' });
    const key = await service.application([...access] as AccessRule[], type);
    const headers = { 'if-match': '"7"' };
    for (const patch of attacks) {
      const send = () => service.call('PATCH', path(created.id), patch, { key, headers });
      const { text } = await expectRefusal(service, send, revealRequired);
      expect(text).not.toMatch(/42424242|Alice/);
    }
    expect(await read(service, created.id)).toEqual(created);
    const unchanged = { mask: created['mask'], search_indexes: ['x'], fingerprint_expression: 'y', data: { a: 1 } };
    const allowed = await service.call('PATCH', path(created.id), unchanged, { key });
    expect(allowed.status, allowed.text).toBe(200);
  });

  test.for([
    ['plain permissions with token:use', ['token:update', 'token:use']],
    ['reveal for token:read', [rule('/', 'mask', ['token:update']), rule('/pci/', 'reveal', ['token:read'], 2)]],
    [
      'reveal for token:use',
      [rule('/', 'mask', ['token:update', 'token:read']), rule('/pci/', 'reveal', ['token:use'])],
    ],
  ] as const)('%s is enough', async ([, access], { service }) => {
    const { id } = await create(service, { type: 'card', data: secret });
    const key = await service.application([...access] as AccessRule[]);
    const answer = await service.call('PATCH', path(id), { mask: '{{ data.name }}' }, { key });
    expect(answer).toMatchObject({ status: 200, body: { data: 'Alice' } });
  });
});

describe('403 a move must not widen what its caller may do or see', () => {
  const update = rule('/', 'mask', ['token:update'], 9);
  const rows: readonly (readonly [what: string, rules: readonly AccessRule[], to: readonly string[]])[] = [
    ['without token:update on the destination', [rule('/from/', 'reveal', ['token:update'])], ['/to/']],
    ['without token:update on an added container', [rule('/from/', 'reveal', ['token:update'])], ['/from/', '/to/']],
    ['to a container where it may read', [update, rule('/to/', 'mask', ['token:read'])], ['/to/']],
    ['to an added container where it may read', [update, rule('/to/', 'redact', ['token:read'])], ['/from/', '/to/']],
    ['to a container where it may delete', [update, rule('/to/', 'mask', ['token:delete'])], ['/to/']],
    ['to a container where it may use tokens', [update, rule('/to/', 'mask', ['token:use'])], ['/to/']],
    ['to a container where it may search', [update, rule('/to/', 'mask', ['token:search'])], ['/to/']],
    [
      'to a weaker transform',
      [update, rule('/from/', 'redact', ['token:read']), rule('/to/', 'mask', ['token:read'])],
      ['/to/'],
    ],
    [
      'from mask to reveal',
      [update, rule('/to/', 'reveal', ['token:read'], 1), rule('/', 'mask', ['token:read'], 2)],
      ['/to/', '/from/'],
    ],
    [
      'to a weaker transform for updates',
      [rule('/', 'mask', ['token:update'], 2), rule('/to/', 'reveal', ['token:update'])],
      ['/to/'],
    ],
    [
      'out of a container whose rule masks first',
      [update, rule('/from/', 'mask', ['token:read'], 1), rule('/', 'reveal', ['token:read'], 2)],
      ['/to/'],
    ],
  ];

  test.for(rows)('%s', async ([, rules, containers], { service }) => {
    const { id } = await createPlain(service, { containers: ['/from/'] });
    const key = await service.application([...rules]);
    await expectRefusal(service, () => service.call('PATCH', path(id), { containers }, { key }), forbidden);
  });

  test('removing a container requires token:update in that container', async ({ service }) => {
    const { id } = await createPlain(service, { containers: ['/from/', '/to/'] });
    const key = await service.application([rule('/to/', 'mask', ['token:update'])]);
    const send = () => service.call('PATCH', path(id), { containers: ['/to/'] }, { key });
    await expectRefusal(service, send, forbidden);
  });

  test('null moves the token to the default container, so it is a move', async ({ service }) => {
    const { id } = await createPlain(service, { containers: ['/from/'] });
    const key = await service.application([rule('/from/', 'mask', ['token:update'])]);
    await expectRefusal(service, () => service.call('PATCH', path(id), { containers: null }, { key }), forbidden);
  });

  test('a move that widens nothing succeeds, and the response uses the stricter transform', async ({ service }) => {
    const { id } = await createPlain(service, { containers: ['/from/'], mask: 'masked' });
    const rules = [rule('/from/', 'reveal', ['token:update', 'token:read']), rule('/to/', 'redact', ['token:update'])];
    const key = await service.application(rules);
    const { status, body } = await service.call('PATCH', path(id), { containers: ['/to/'] }, { key });
    expect(status).toBe(200);
    expect(body).not.toHaveProperty('data');
    await expectRefusal(service, () => service.call('GET', path(id), undefined, { key }), forbidden);
  });

  test('the same containers in another order or letter case are not a move', async ({ service }) => {
    const { id } = await createPlain(service, { containers: ['/from/', '/other/'] });
    const key = await service.application([rule('/from/', 'reveal', ['token:update'])]);
    const answer = await service.call('PATCH', path(id), { containers: ['/OTHER/', '/from/'] }, { key });
    expect(answer.status, answer.text).toBe(200);
  });
});

describe('403 deduplicating on only some of the fingerprinted values requires reveal', () => {
  const hidden = { routing_number: '021000021', account_number: '50773412' };
  const known = '011401533';
  /** A decoy for each possible account number. */
  const decoys = Array.from({ length: 20 }, (_, i) => ({
    type: 'bank',
    data: { routing_number: known, account_number: `507734${String(i).padStart(2, '0')}` },
  }));

  test('an attacker with a decoy for each candidate learns neither whether one of them is right nor which one', async ({
    service,
  }) => {
    const { id } = await create(service, { type: 'bank', data: hidden });
    const key = await service.application([rule('/', 'mask', ['token:create', 'token:read', 'token:update'])]);
    const patch = { data: { routing_number: known }, deduplicate_token: true };
    const wrong = () => service.call('PATCH', path(id), patch, { key });
    await expectRefusal(service, wrong, revealRequired);
    expect((await service.call('POST', '/tokenize', decoys, { key })).status).toBe(200);
    await expectRefusal(service, () => service.call('PATCH', path(id), patch, { key }), revealRequired);
    expect((await read(service, id))['data']).toEqual(hidden);
  });

  test('a caller that sends every value, or that sees the token, may deduplicate', async ({ service }) => {
    const { id } = await create(service, { type: 'bank', data: hidden });
    const other = await create(service, { type: 'bank', data: { ...hidden, routing_number: known } });
    const whole = { data: { ...hidden, routing_number: known }, deduplicate_token: true };
    const key = await service.application([rule('/', 'mask', ['token:read', 'token:update'])]);
    const answers = [
      await service.call('PATCH', path(id), whole, { key }),
      await service.call('PATCH', path(id), { ...whole, data: { routing_number: known } }),
    ];
    expect(answers.map(({ status, body }) => [status, body['id']])).toEqual([
      [200, other.id],
      [200, other.id],
    ]);
  });
});
