import { describe, expect } from 'vitest';
import type { JsonObject } from '#src/domain/json.js';
import { rule, type TestService } from '../../../support/test-service.js';
import { card, create, expectRefusal, invalid, path, test, uniqueId } from '../support.js';

const blind = {
  masked: (service: TestService) => service.application([rule('/', 'mask', ['token:read', 'token:update'])]),
  'with plain permissions': (service: TestService) => service.application(['token:read', 'token:update']),
  public: (service: TestService) => service.application(['token:update'], 'public'),
} as const;
const callers = Object.entries(blind);
const right = card.number;
const wrong = '5555555555554444';

describe('400 a caller that cannot see the value learns nothing by trying candidates', () => {
  test.for(callers)('%s: right and wrong candidates get the same response', async ([, application], { service }) => {
    const key = await application(service);
    const { id } = await create(service, { type: 'card', data: card });
    const patches: readonly [field: string, patch: (candidate: string) => JsonObject][] = [
      ['metadata', (candidate) => ({ metadata: { k0: wrong, k1: candidate } })],
      ['metadata', (candidate) => ({ metadata: { [candidate]: '' } })],
      ['metadata', (candidate) => ({ data: { expiration_month: 1 }, metadata: { k: `a${candidate}` } })],
      ['containers', (candidate) => ({ containers: ['/pci/high/', `/pci/${candidate}/`] })],
    ];
    for (const [field, patch] of patches) {
      const answers = [];
      for (const candidate of [right, wrong]) {
        const answer = await expectRefusal(
          service,
          () => service.call('PATCH', path(id), patch(candidate), { key }),
          invalid(field),
        );
        answers.push(answer.body['errors']);
      }
      expect(answers[0]).toEqual(answers[1]);
    }
  });

  test.for(callers)('%s: text that cannot be a candidate is stored', async ([, application], { service }) => {
    const key = await application(service);
    const { id } = await create(service, { type: 'card', data: card, metadata: { order: wrong } });
    const patch = { metadata: { order: wrong, last4: '4242', day: '2026-01-31' } };
    const answer = await service.call('PATCH', path(id), patch, { key });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body['metadata']).toEqual(patch.metadata);
  });

  test.for(callers)('%s: a number that the caller itself sends is checked', async ([, application], { service }) => {
    const key = await application(service);
    const { id } = await create(service, { type: 'card', data: card });
    const patch = (note: string) => ({ data: { number: wrong }, metadata: { note } });
    const send = () => service.call('PATCH', path(id), patch(`of ${wrong}`), { key });
    await expectRefusal(service, send, invalid('metadata.note'));
    const answer = await service.call('PATCH', path(id), patch(`was ${right}`), { key });
    expect(answer.status, answer.text).toBe(200);
  });

  test('values of other lengths are protected as well, and the rule does not apply to types without own values', async ({
    service,
  }) => {
    const key = await blind.masked(service);
    for (const [type, data, candidate] of [
      ['social_security_number', '123-45-6789', '111-22-3333'],
      ['us_bank_account_number', '123456', '654321'],
      ['bank', { routing_number: '021000021', account_number: '123456' }, '654321'],
      ['card_number', right, wrong],
    ] as const) {
      const { id } = await create(service, { type, data });
      const send = () => service.call('PATCH', path(id), { metadata: { k: candidate } }, { key });
      await expectRefusal(service, send, invalid('metadata'));
    }
    const { id } = await create(service, { type: 'us_bank_routing_number', data: '021000021' });
    expect((await service.call('PATCH', path(id), { metadata: { k: wrong } }, { key })).status).toBe(200);
  });

  test('for a caller that sees the value in plaintext, the error names the path, and other numbers are allowed', async ({
    service,
  }) => {
    const { id } = await create(service, { type: 'card', data: card });
    const send = () => service.call('PATCH', path(id), { metadata: { a: wrong, b: right } });
    await expectRefusal(service, send, invalid('metadata.b'));
    expect((await service.call('PATCH', path(id), { metadata: { a: wrong } })).status).toBe(200);
  });
});

describe('a generated id that happens to contain the token’s own value', () => {
  /** Creates a token whose id, which the vault generates, contains its account number. */
  async function coincidence(service: TestService) {
    const random = service.vault.random as { uuid: () => string };
    const { uuid } = random;
    const id = `1234567a${uuid().slice(8)}`;
    random.uuid = () => id;
    const created = await create(service, { type: 'us_bank_account_number', data: '1234567' });
    random.uuid = uuid;
    expect(created.id).toBe(id);
    return id;
  }

  test.for(callers)('%s: does not keep the token from being changed', async ([, application], { service }) => {
    const id = await coincidence(service);
    const key = await application(service);
    for (const as of [key, service.key]) {
      for (const patch of [{ metadata: { a: uniqueId().slice(0, 5) } }, { expires_at: '2031-01-01' }]) {
        const answer = await service.call('PATCH', path(id), patch, { key: as });
        expect(answer.status, answer.text).toBe(200);
      }
    }
  });

  test('keeps no number that an update stores', async ({ service }) => {
    const id = await coincidence(service);
    const update = (data: string) => service.call('PATCH', path(id), { data });
    expect((await update('7654321')).status).toBe(200);
    for (const data of ['1234567', '123456']) await expectRefusal(service, () => update(data), invalid('data'));
  });
});
