import { expect, test } from 'vitest';
import type { Json } from '#src/domain/json.js';
import { create, createPlain, expectRefusal, uniqueId } from '../routes/support.js';
import { limitedService, metric, statuses } from './support.js';

const limited = { status: 429, code: 'rate_limited' };
const exhausted = { status: 429, code: 'guesses_exhausted' };

test('a tokenize or detokenize counts as many requests as it contains tokens', async () => {
  const service = await limitedService({ requests: 20 });
  const key = await service.application(['token:create', 'token:use']);
  const send = (url: string, body: Json) => () => service.call('POST', url, body, { key });
  const values = await send('/tokenize', Array(12).fill('x'))();
  expect(values.status).toBe(200);
  const [id] = JSON.parse(values.text) as string[];
  await expectRefusal(service, send('/tokenize', Array(9).fill('x')), limited);
  // An id that occurs in many places counts as one token.
  const texts = Array.from({ length: 50 }, (_, n) => `${n % 25}: {{ ${id} }}`);
  expect((await send('/detokenize', texts)()).status).toBe(200);
  expect(await statuses(9, send('/detokenize', 'nothing'))).toEqual([...Array(6).fill(200), 429, 429, 429]);
});

test('every unknown id in a detokenize is a guess; above the budget, even known ids are rejected', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 5 });
  const { id } = await createPlain(service);
  const send = (body: Json) => () => service.call('POST', '/detokenize', body);
  const wrong = (count: number) => Array.from({ length: count }, () => `{{ ${uniqueId()} }}`);
  expect((await send([...wrong(3), `{{ ${id} }}`])()).status).toBe(400);
  expect((await send(`{{ ${id} }}`)()).status).toBe(200);
  // If a request needs more than the rest of the budget, the whole request is rejected. The rejected request also uses
  // up the rest of the budget.
  await expectRefusal(service, send(wrong(4)), exhausted);
  expect(await metric(service, 'strongroom_guesses_total{budget="guesses"}')).toBe(3);
  await expectRefusal(service, send(`{{ ${id} }}`), exhausted);
  await expectRefusal(service, send(wrong(1)), exhausted);
  expect((await send({ text: 'names no token' })()).status).toBe(200);
});

test('every part that finds a token which its caller may not read is a guess', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 3 });
  const key = await service.application(['token:create'], 'public');
  const known = await Promise.all(['1', '2', '3'].map((data) => create(service, { type: 'token', data })));
  const guess = (data: Json) => ({ type: 'token', data, deduplicate_token: true });
  const send = (body: Json) => () => service.call('POST', '/tokenize', body, { key });
  const tried = known.map(({ data }) => guess(data ?? null));
  expect((await send([...tried, guess(uniqueId())])()).status).toBe(200);
  expect(await metric(service, 'strongroom_guesses_total{budget="guesses"}')).toBe(3);
  await expectRefusal(service, send([guess(uniqueId())]), exhausted);
  expect((await send(['x'])()).status).toBe(200);
});

test('64 concurrent detokenize requests with unknown ids do not exceed the budget', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 30 });
  const sent = Array.from({ length: 64 }, () => service.call('POST', '/detokenize', `{{ ${uniqueId()} }}`));
  const answers = (await Promise.all(sent)).map(({ status }) => status);
  expect(answers.filter((status) => status === 400)).toHaveLength(30);
  expect(answers.filter((status) => status === 429)).toHaveLength(34);
});
