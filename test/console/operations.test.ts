import { describe, expect, test } from 'vitest';
import { noLimits } from '#src/vault/limit-settings.js';
import { startTestConsole } from '../support/console/console.js';

const routes = ['/operations', '/checks', '/verification'];

describe('the operator pages', () => {
  test.each(routes)('are not shown without an operator code: %s', async (path) => {
    const { signIn } = await startTestConsole();
    const { status, text } = await (await signIn()).get(path);
    expect([status, text]).toEqual([403, expect.stringContaining('a one-time code from strongroom console sign-in')]);
  });

  test.each(routes)('are shown to an operator, even without an application: %s', async (path) => {
    const { signIn } = await startTestConsole();
    const browser = await signIn({ privateKey: '', managementKey: '', isOperator: true });
    expect((await browser.get(path)).status).toBe(200);
  });

  test('record a person who is not an operator in the access log of the person’s tenant', async () => {
    const { service, signIn } = await startTestConsole();
    const browser = await signIn({ name: 'Mallory' });
    expect((await browser.get('/operations')).status).toBe(403);
    expect((await browser.post('/operations/rotate', { confirm: 'rotate' })).status).toBe(403);
    const { body } = await service.call('GET', '/logs?entity_type=service', undefined, { key: service.managementKey });
    const entries = body['data'] as readonly Record<string, unknown>[];
    const denied = entries.filter(({ outcome }) => outcome === 'denied');
    expect(denied.map(({ person, operation }) => [person, operation])).toEqual([
      ['Mallory', 'update'],
      ['Mallory', 'read'],
    ]);
  });
});

describe('an application that is over its limit', () => {
  test('gets a page that says how long to wait, and does not keep an operator from the operator pages', async () => {
    const limits = { ...noLimits, requests: 2, windowMs: 40_000 };
    const { signIn } = await startTestConsole({ limits });
    const browser = await signIn({ isOperator: true });
    let page = await browser.get('/tokens');
    for (let request = 0; request < 4; request += 1) page = await browser.get('/tokens');
    expect(page.status).toBe(429);
    expect(page.text).toContain(`Wait ${page.headers['retry-after']} seconds, then try again.`);
    expect(page.text).not.toContain('Retry-After');
    for (const route of routes) expect((await browser.get(route)).status, route).toBe(200);
  });

  test('counts requests for operator pages from anyone else', async () => {
    const limits = { ...noLimits, requests: 2, windowMs: 40_000 };
    const { signIn } = await startTestConsole({ limits });
    const browser = await signIn();
    const statuses: number[] = [];
    for (let request = 0; request < 5; request += 1) statuses.push((await browser.get('/operations')).status);
    expect(statuses).toContain(429);
    expect(statuses[0]).toBe(403);
  });
});

describe('a rebuild', () => {
  test('is started, and the page shows its result', async () => {
    const { service, signIn } = await startTestConsole();
    await service.call('POST', '/tokens', { type: 'token', data: 'x' });
    const browser = await signIn({ isOperator: true });
    const page = await browser.get('/operations');
    expect(page.text).toMatch(
      /The rebuild reads the event log up to position [\d,]+ and writes about 1 row beside those in use\./,
    );
    expect(page.text).toMatch(/up to position [\d,]+ and replaces the rows of all tenants/);
    expect(page.text).not.toMatch(/\b0 rows|\b1 minutes/);
    const started = await browser.post('/operations/rebuild', { name: 'directory' });
    expect([started.status, started.location]).toEqual([303, '/operations']);
    expect((await browser.get('/operations')).text).toContain('The projection directory is rebuilt.');
  });

  test('whose new rows are in use is shown as done, and the page no longer reloads', async () => {
    const { service, signIn } = await startTestConsole({ keptMs: 60_000 });
    await service.call('POST', '/tokens', { type: 'token', data: 'x' });
    const browser = await signIn({ isOperator: true });
    await browser.get('/operations');
    await browser.post('/operations/rebuild', { name: 'tokens' });
    let text = '';
    const load = async () => {
      text = (await browser.get('/operations')).text;
      return text;
    };
    await expect.poll(load).toContain('The new rows are in use.');
    expect(text).toContain('Rebuilt</span>');
    // In tests, the cluster profile removes the old rows sooner than in production.
    expect(text).toMatch(/The old ones are (?:removed within \d+ (?:second|minute)s?|being removed)\./);
    for (const word of ['Work is running', 'data-reload', 'events per second', 'Last rebuild']) {
      expect(text, word).not.toContain(word);
    }
  });

  test('that has ended well is no warning', async () => {
    const { service, signIn } = await startTestConsole();
    const browser = await signIn({ isOperator: true });
    await browser.get('/operations');
    await browser.post('/operations/rebuild', { name: 'tokens' });
    const outcome = async () =>
      (await service.service.projections.status()).find(({ name }) => name === 'tokens')?.lastRebuild?.outcome;
    await expect.poll(outcome).toBe('done');
    expect((await browser.get('/operations')).text).not.toContain('Last rebuild');
  });

  test('of an unknown projection returns 400, and a rebuild that does not run cannot be canceled', async () => {
    const { signIn } = await startTestConsole();
    const browser = await signIn({ isOperator: true });
    await browser.get('/operations');
    expect((await browser.post('/operations/rebuild', { name: 'unknown' })).status).toBe(400);
    await browser.post('/operations/cancel', { name: 'tokens' });
    expect((await browser.get('/operations')).text).toContain('No rebuild of tokens is running.');
  });
});

describe('a rotation', () => {
  test('starts only if the word has been typed', async () => {
    const { signIn } = await startTestConsole();
    const browser = await signIn({ isOperator: true });
    await browser.get('/operations');
    const answer = await browser.post('/operations/rotate', { confirm: 'yes' });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('Type the word rotate to confirm.')]);
  });
});

describe('the access log of every tenant', () => {
  test('names the operator that started a rebuild or a rotation, and not one whose request changed nothing', async () => {
    const { service, signIn } = await startTestConsole();
    const otherKey = await service.otherManagement();
    const browser = await signIn({ name: 'Grace Hopper', privateKey: '', managementKey: '', isOperator: true });
    await browser.get('/operations');
    await browser.post('/operations/rebuild', { name: 'directory' });
    await browser.post('/operations/cancel', { name: 'tokens' });
    await browser.post('/operations/rotate', { confirm: 'no' });
    await browser.post('/operations/rotate', { confirm: 'rotate' });
    for (const key of [service.managementKey, otherKey]) {
      const { body } = await service.call('GET', '/logs?size=100&entity_type=service', undefined, { key });
      const entries = (body['data'] as readonly Record<string, unknown>[]).filter(({ person }) => person !== undefined);
      const acts = entries.map((entry) => [entry['person'], entry['actor_type'], entry['operation'], entry['message']]);
      expect(acts).toEqual([
        ['Grace Hopper', 'operator', 'rotation', 'rotation of all keys started'],
        ['Grace Hopper', 'operator', 'update', 'rebuild of the projection directory started'],
        ['Grace Hopper', 'operator', 'sign_in', 'signed in at the console'],
      ]);
      expect(entries.every(({ source_address: address }) => address === '127.0.0.1')).toBe(true);
    }
  });
});

describe('checks and verification', () => {
  test('run in the background, and the page shows what they found', async () => {
    const { service, signIn } = await startTestConsole();
    await service.call('POST', '/tokens', { type: 'token', data: 'x' });
    const browser = await signIn({ isOperator: true });
    await browser.get('/checks');
    await browser.post('/checks');
    await expect.poll(async () => (await browser.get('/checks')).text).toContain('projections</span>');
    expect((await browser.get('/checks')).text).toMatch(/badge--bad">backup<[\s\S]*No backup is known\./);
    expect((await browser.get('/checks')).text).toContain('badge--warn">copies</span>');
    await browser.post('/verification');
    await expect
      .poll(async () => (await browser.get('/verification')).text)
      .toContain('each commit linked to the one before');
  });

  test('reload the page while they run', async () => {
    const { signIn } = await startTestConsole();
    const browser = await signIn({ isOperator: true });
    await browser.get('/verification');
    await browser.post('/verification');
    const during = await browser.get('/verification');
    const isRunning = during.text.includes('is being verified');
    expect(during.text.includes('<noscript><meta http-equiv="refresh" content="2"></noscript>')).toBe(isRunning);
    expect(during.text.includes('<body data-reload>')).toBe(isRunning);
    await expect.poll(async () => (await browser.get('/verification')).text).not.toContain('is being verified');
  });
});
