import { expect, test } from 'vitest';
import type { SendOutcome, WebhookSender } from '#src/ports/webhook-sender.js';
import { startTestConsole, type TestConsole } from '../support/console/console.js';
import { hidden, hostile, hostileShown, signInLimited } from '../support/console/directory-pages.js';

const url = 'https://shop.example/hook';

/**
 * Returns a sender that does not contact a receiver. The sender accepts every address, and returns the outcome selected
 * by the test.
 */
function recordingSender() {
  const sent: { readonly url: string; readonly body: string }[] = [];
  const state: { outcome: SendOutcome } = { outcome: { kind: 'responded', status: 204 } };
  const post: WebhookSender['post'] = async (to, _headers, body) => {
    sent.push({ url: to.href, body });
    return state.outcome;
  };
  const sender: WebhookSender = {
    problemOf: ({ protocol }) => (protocol === 'https:' ? null : 'must begin with https://'),
    post,
    postTest: async (_tenantId, ...given) => post(...given),
    close: () => undefined,
  };
  return { sender, sent, state };
}

function fields(others: Readonly<Record<string, string>> = {}, events: readonly string[] = ['token.created']) {
  const form = new URLSearchParams({ url, description: 'shop', enabled: 'true', containers: '', ...others });
  for (const event of events) form.append('event_types', event);
  return form;
}

async function createWebhook({ service }: TestConsole, body: object = {}): Promise<string> {
  const created = await service.call(
    'POST',
    '/webhooks',
    { url, event_types: ['token.created'], ...body },
    { key: service.managementKey },
  );
  return String(created.body['id']);
}

async function webhookOf({ service }: TestConsole, id: string) {
  return service.call('GET', `/webhooks/${id}`, undefined, { key: service.managementKey });
}

test('a webhook is created with its filters, and its secret is shown only once', async () => {
  const console = await startTestConsole();
  const browser = await console.signIn();
  expect((await browser.get('/webhooks')).text).toContain('No webhooks');
  const once = hidden((await browser.get('/webhooks/new')).text, 'once');
  const form = fields({ once, containers: ' /PCI/ \r\n\r\n/shop/' }, ['token.deleted', 'access.denied']);
  form.append('token_types', 'card');
  const created = await browser.postAll('/webhooks/new', form);
  const [secret = ''] = /whsec_[A-Za-z0-9+/]{43}=/.exec(created.text) ?? [];
  expect(created.status, created.text).toBe(200);
  expect(secret).not.toBe('');
  expect(created.text).toContain('This is the only time that the secret is shown.');
  const [, id = ''] = /href="\/webhooks\/([0-9a-f-]{36})"/.exec(created.text) ?? [];
  expect((await webhookOf(console, id)).body).toMatchObject({
    url,
    description: 'shop',
    enabled: true,
    event_types: ['token.deleted', 'access.denied'],
    token_types: ['card'],
    containers: ['/pci/', '/shop/'],
  });
  for (const path of ['/webhooks', `/webhooks/${id}`, `/webhooks/${id}/edit`]) {
    const { status, text } = await browser.get(path);
    expect(status, path).toBe(200);
    expect(text).toContain('shop.example');
    expect(text).not.toContain('whsec_');
    expect(Buffer.byteLength(text)).toBeLessThan(60_000);
  }
  expect(JSON.stringify(console.lines)).not.toContain(secret);
});

test('a form that is sent twice creates one webhook, and shows its secret once', async () => {
  const console = await startTestConsole();
  const browser = await console.signIn();
  const once = hidden((await browser.get('/webhooks/new')).text, 'once');
  const send = () => browser.postAll('/webhooks/new', fields({ once }));
  const first = await send();
  expect(first.text).toContain('whsec_');
  const again = await send();
  expect(again.status).toBe(200);
  expect(again.text).not.toContain('whsec_');
  expect(again.text).toContain('The secret has already been shown');
  const idOn = (text: string) => /href="(\/webhooks\/[0-9a-f-]{36})"/.exec(text)?.[1] ?? '';
  expect(idOn(again.text)).toBe(idOn(first.text));
  const { service } = console;
  const webhooks = () => service.call('GET', '/webhooks', undefined, { key: service.managementKey });
  expect((await webhooks()).body['data']).toHaveLength(1);
  // The second of two forms that are sent at the same time may be told that the first one is still being processed.
  const other = fields({ once: hidden((await browser.get('/webhooks/new')).text, 'once') });
  const both = await Promise.all([browser.postAll('/webhooks/new', other), browser.postAll('/webhooks/new', other)]);
  expect(both.filter(({ text }) => text.includes('whsec_'))).toHaveLength(1);
  expect((await webhooks()).body['data']).toHaveLength(2);
  await browser.post(`${idOn(first.text)}/delete`, { confirmation: 'delete' });
  expect((await send()).status).toBe(404);
  expect((await browser.postAll('/webhooks/new', fields({ once: 'x' }))).status).toBe(400);
});

test('the form shows the API’s errors, and an eleventh webhook is a conflict', async () => {
  const console = await startTestConsole();
  const browser = await console.signIn();
  const once = hidden((await browser.get('/webhooks/new')).text, 'once');
  const wrong = fields({ once, url: 'http://10.0.0.1/', description: 'x'.repeat(201), containers: 'pci' }, []);
  const { status, text } = await browser.postAll('/webhooks/new', wrong);
  expect(status).toBe(400);
  expect(text).toContain('id="event_types-error">Choose at least one event.');
  for (const field of ['url', 'description', 'containers']) {
    expect(text).toContain(`id="${field}-error">Must`);
  }
  expect(text).toContain('value="http://10.0.0.1/"');
  for (let count = 0; count < 10; count += 1) await createWebhook(console);
  expect((await browser.postAll('/webhooks/new', fields({ once }))).status).toBe(409);
  expect((await browser.get('/webhooks')).text).toContain('At most ten webhooks.');
});

test('a webhook is edited, disabled and enabled again, and a change to an older state is a conflict', async () => {
  const console = await startTestConsole();
  const id = await createWebhook(console, { containers: ['/pci/'] });
  const browser = await console.signIn();
  const version = hidden((await browser.get(`/webhooks/${id}/edit`)).text, 'version');
  console.service.clock.advance(1_000);
  const edit = (others: Readonly<Record<string, string>>) => browser.postAll(`/webhooks/${id}/edit`, fields(others));
  expect((await edit({ version, description: 'changed' })).location).toBe(`/webhooks/${id}`);
  expect((await webhookOf(console, id)).body).not.toHaveProperty('containers');
  const late = await edit({ version, description: 'late' });
  expect(late.status).toBe(409);
  expect(late.text).toContain('value="late"');
  expect((await edit({ version: hidden(late.text, 'version'), url: 'x' })).status).toBe(400);
  expect((await browser.post(`/webhooks/${id}/enabled`, { enabled: 'false' })).status).toBe(303);
  expect((await webhookOf(console, id)).body).toMatchObject({ enabled: false, description: 'changed' });
  expect((await browser.get(`/webhooks/${id}`)).text).toContain('>Disabled<');
  expect((await browser.post(`/webhooks/${id}/enabled`, { enabled: 'true' })).status).toBe(303);
  expect((await webhookOf(console, id)).body).toMatchObject({ enabled: true });
});

test('of two edits that are saved at the same moment, one is a conflict', async () => {
  const console = await startTestConsole();
  const id = await createWebhook(console);
  const browser = await console.signIn();
  const version = hidden((await browser.get(`/webhooks/${id}/edit`)).text, 'version');
  console.service.clock.advance(1_000);
  const edit = (description: string) => browser.postAll(`/webhooks/${id}/edit`, fields({ version, description }));
  const answers = await Promise.all([edit('one'), edit('two')]);
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 409]);
  const [kept = '', lost = ''] = answers[0].status === 303 ? ['one', 'two'] : ['two', 'one'];
  expect((await webhookOf(console, id)).body).toMatchObject({ description: kept });
  // The form shows what the person typed, and can be saved again over the other edit.
  const again = answers.find(({ status }) => status === 409)?.text ?? '';
  expect(again).toContain(`value="${lost}"`);
  const saved = fields({ version: hidden(again, 'version'), description: lost });
  expect((await browser.postAll(`/webhooks/${id}/edit`, saved)).status).toBe(303);
});

test('a webhook that is disabled while it is edited is disabled, and a saved edit is not lost', async () => {
  const console = await startTestConsole();
  const id = await createWebhook(console);
  const browser = await console.signIn();
  const version = hidden((await browser.get(`/webhooks/${id}/edit`)).text, 'version');
  console.service.clock.advance(1_000);
  const [edited, disabled] = await Promise.all([
    browser.postAll(`/webhooks/${id}/edit`, fields({ version, description: 'changed' })),
    browser.post(`/webhooks/${id}/enabled`, { enabled: 'false' }),
  ]);
  expect(disabled.status).toBe(303);
  const { body } = await webhookOf(console, id);
  // In a cluster, the edit may come second. It is then rejected, and the webhook still has no description.
  expect([edited.status, body]).toMatchObject(
    body['description'] === undefined ? [409, { enabled: false }] : [303, { enabled: false, description: 'changed' }],
  );
});

test('after a test delivery, the page shows the receiver’s response', async () => {
  const { sender, sent, state } = recordingSender();
  const console = await startTestConsole({ webhookSender: sender });
  const id = await createWebhook(console);
  const browser = await console.signIn();
  await browser.get(`/webhooks/${id}`);
  const attempt = async () => {
    expect((await browser.post(`/webhooks/${id}/test`)).location).toBe(`/webhooks/${id}`);
    return (await browser.get(`/webhooks/${id}`)).text;
  };
  expect(await attempt()).toContain('The receiver accepted the test event (status 204');
  expect(sent[0]?.body).toContain('webhook.test');
  state.outcome = { kind: 'responded', status: 302 };
  expect(await attempt()).toContain('was not accepted (status 302, redirects are not followed)');
  state.outcome = { kind: 'failed', problem: 'no response within 10 seconds' };
  const failed = await attempt();
  expect(failed).toContain('was not accepted (no response within 10 seconds)');
  expect(failed).toContain('No attempts');
  expect(failed).toContain('Test events are not listed.');
  expect((await browser.get('/webhooks')).text).toContain('Tests are not listed');
});

test('the page lists the attempts and filters them by outcome, and an operator starts a replay', async () => {
  const { sender, sent, state } = recordingSender();
  const console = await startTestConsole({ webhookSender: sender });
  const { service } = console;
  const id = await createWebhook(console);
  await service.call('POST', '/tokens', { type: 'token', data: 'first' });
  const browser = await console.signIn({ isOperator: true });
  const replay = (from: string) => browser.post(`/webhooks/${id}/replay`, { from });
  state.outcome = { kind: 'responded', status: 500 };
  await service.vault.webhookStore.save(id, 0, stateWith(service.clock.now()), []);
  const page = await browser.get(`/webhooks/${id}`);
  expect(page.text).toContain('1–3 of 3');
  expect(page.text).toContain('Deliver again');
  const parked = await browser.get(`/webhooks/${id}?outcome=parked`);
  expect(parked.text).toContain('1–1 of 1');
  const beyond = (await browser.get(`/webhooks/${id}?outcome=parked&page=3`)).text;
  expect(beyond).toContain('The list has only 1 page.');
  expect(beyond).toContain(`href="/webhooks/${id}?page=1&amp;outcome=parked">Previous`);
  expect((await browser.get(`/webhooks/${id}?outcome=lost`)).status).toBe(400);
  expect((await replay('yesterday')).status).toBe(400);
  const early = await replay(new Date(service.clock.now() + 1).toISOString());
  expect(early.status).toBe(400);
  expect(early.text).toContain('id="from-error">That moment is in the future.');
  expect((await service.vault.webhookStore.state(id))?.version).toBe(1);
  expect((await replay(new Date(service.clock.now()).toISOString())).location).toBe(`/webhooks/${id}`);
  expect((await replay('2020-01-31')).location).toBe(`/webhooks/${id}`);
  expect((await service.vault.webhookStore.state(id))?.state).toMatchObject({
    position: 0,
    replaysFrom: Date.UTC(2020, 0, 31),
  });
  const { at } = stateWith(service.clock.now()).attempts[0] ?? { at: 0 };
  const shown = `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  expect(page.text).toContain(shown);
  expect((await replay(shown)).location, shown).toBe(`/webhooks/${id}`);
  expect(sent).toEqual([]);
  const { body } = await service.call('GET', `/logs?size=100&entity_id=${id}`, undefined, {
    key: service.managementKey,
  });
  expect(body['data']).toContainEqual(
    expect.objectContaining({
      entity_type: 'webhook',
      operation: 'update',
      message: 'earlier events delivered again',
      person: 'Ada Lovelace',
    }),
  );

  const administrator = await console.signIn();
  const { text } = await administrator.get(`/webhooks/${id}`);
  expect(text).not.toContain('Deliver again');
  expect((await administrator.post(`/webhooks/${id}/replay`, { from: '2020-01-31' })).status).toBe(403);
});

test('the overview and the checks link to a webhook whose deliveries fail, if the session may open it', async () => {
  const console = await startTestConsole();
  const { service } = console;
  const id = await createWebhook(console);
  await service.vault.webhookStore.save(id, 0, stateWith(service.clock.now()), []);
  const link = `href="/webhooks/${id}">Webhook ${id}</a>`;
  const owner = await console.signIn();
  const overview = (await owner.get('/')).text;
  expect(overview).toContain(`${id} (1 delivery was parked in the last day)`);
  expect(overview).toContain(link);
  expect(overview).toContain('Open the webhook and check its receiver.');
  expect(overview).not.toContain('GET /webhooks');
  const auditor = (await (await signInLimited(console, ['log:read'])).get('/')).text;
  expect(auditor).toContain('Last hourly checkpoint');
  expect(auditor).not.toContain(id);
  expect(auditor).not.toContain('parked');
  const operator = await console.signIn({ privateKey: '', managementKey: '', isOperator: true });
  const withoutKey = (await operator.get('/')).text;
  expect(withoutKey).toContain(id);
  expect(withoutKey).not.toContain(link);
  expect(withoutKey).toContain('strongroom webhooks replay');
  const both = await console.signIn({ managementKey: service.managementKey, isOperator: true });
  await both.get('/checks');
  await both.post('/checks');
  await expect.poll(async () => (await both.get('/checks')).text).toContain(link);
});

test('if a replay fails, the page shows the reason next to the field', async () => {
  const message = 'the store webhooks is not available. Try again.';
  const console = await startTestConsole({ operations: { run: async () => ({ ok: false, message }) } });
  const id = await createWebhook(console);
  const browser = await console.signIn({ isOperator: true });
  await browser.get(`/webhooks/${id}`);
  const failed = await browser.post(`/webhooks/${id}/replay`, { from: '2020-01-31' });
  expect(failed.status).toBe(400);
  expect(failed.text).toContain('id="from-error">The store webhooks is not available. Try again.');
});

/** Returns a state that contains one attempt with each outcome. */
function stateWith(at: number) {
  const attempt = (outcome: 'delivered' | 'failed' | 'parked', eventId: string) => ({
    eventId,
    eventType: 'token.created',
    at,
    durationMs: 12,
    attempt: 1,
    outcome,
    status: 200,
    problem: null,
    nextAt: outcome === 'failed' ? at + 5_000 : null,
  });
  const attempts = [attempt('delivered', 'event-1'), attempt('failed', 'event-2')];
  const parked = [attempt('parked', 'event-3')];
  return { position: 0, replaysFrom: 0, pending: [], attempts, parked, denials: null };
}

function versionIn(text: string): string {
  return /name="version" value="(\d+)"/.exec(text)?.[1] ?? '';
}

test('a rotation shows the new secret once, and the old secret keeps signing until it expires', async () => {
  const console = await startTestConsole();
  const id = await createWebhook(console);
  const browser = await console.signIn();
  const form = { overlap: '168', version: versionIn((await browser.get(`/webhooks/${id}`)).text) };
  console.service.clock.advance(1_000);
  const rotated = await browser.post(`/webhooks/${id}/secret`, form);
  expect(rotated.status).toBe(200);
  expect(rotated.text).toContain('whsec_');
  const again = await browser.post(`/webhooks/${id}/secret`, form);
  expect([again.location, again.text]).toEqual([`/webhooks/${id}`, '']);
  const { text } = await browser.get(`/webhooks/${id}`);
  expect(text).toContain('so its secret was not rotated');
  expect(text).toContain('Also sign until');
  expect(text).not.toContain('whsec_');
  expect((await browser.post(`/webhooks/${id}/secret`, { overlap: '99999' })).status).toBe(400);
});

test('if the form for a rotation is sent twice at the same time, the secret is rotated once', async () => {
  const console = await startTestConsole();
  const id = await createWebhook(console);
  const browser = await console.signIn();
  const form = { overlap: '168', version: versionIn((await browser.get(`/webhooks/${id}`)).text) };
  console.service.clock.advance(1_000);
  const answers = await Promise.all([1, 2, 3].map(() => browser.post(`/webhooks/${id}/secret`, form)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 303, 303]);
  expect(answers.filter(({ text }) => text.includes('whsec_'))).toHaveLength(1);
});

test('a webhook is deleted only after the word has been typed, and is then unknown', async () => {
  const console = await startTestConsole();
  const id = await createWebhook(console);
  const browser = await console.signIn();
  await browser.get(`/webhooks/${id}`);
  const wrong = await browser.post(`/webhooks/${id}/delete`, { confirmation: 'yes' });
  expect(wrong.status).toBe(400);
  expect(wrong.text).toContain('Type the word delete to confirm.');
  expect((await browser.post(`/webhooks/${id}/delete`, { confirmation: 'delete' })).location).toBe('/webhooks');
  for (const path of ['', '/edit']) expect((await browser.get(`/webhooks/${id}${path}`)).status).toBe(404);
  for (const action of ['edit', 'enabled', 'test', 'secret', 'delete']) {
    expect((await browser.post(`/webhooks/${id}/${action}`, { overlap: '24' })).status, action).toBe(404);
  }
});

test('without the permission, a session gets neither the page nor the action', async () => {
  const console = await startTestConsole();
  const id = await createWebhook(console);
  const reader = await signInLimited(console, ['webhook:read']);
  const { status, text } = await reader.get(`/webhooks/${id}`);
  expect(status).toBe(200);
  for (const action of ['Send a test', 'Rotate the secret', 'Delete this webhook', `${id}/edit`]) {
    expect(text).not.toContain(action);
  }
  for (const action of ['edit', 'enabled', 'test', 'secret', 'replay', 'delete']) {
    expect((await reader.post(`/webhooks/${id}/${action}`)).status, action).toBe(403);
  }
  expect((await reader.get(`/webhooks/${id}/edit`)).status).toBe(403);
  expect((await reader.get('/webhooks/new')).status).toBe(403);
  expect((await reader.postAll('/webhooks/new', fields())).status).toBe(403);
  expect((await (await signInLimited(console, ['log:read'])).get('/webhooks')).status).toBe(403);
  const other = await console.signIn({ managementKey: await console.service.otherManagement() });
  expect((await other.get(`/webhooks/${id}`)).status).toBe(404);
});

test('a key that may change or delete webhooks, but not read them, learns nothing from a form that is not accepted', async () => {
  const failing = { ok: false, message: 'the store webhooks is not available. Try again.' } as const;
  const console = await startTestConsole({ operations: { run: async () => failing } });
  const id = await createWebhook(console);
  const managementKey = await console.service.application(['webhook:update', 'webhook:delete'], 'management');
  const browser = await console.signIn({ managementKey, isOperator: true });
  await browser.get('/session');
  for (const [action, form] of [
    ['delete', { confirmation: 'guess' }],
    ['replay', { from: 'yesterday' }],
    ['replay', { from: '2020-01-31' }],
  ] as const) {
    const { status, text } = await browser.post(`/webhooks/${id}/${action}`, form);
    expect([action, status]).toEqual([action, 403]);
    expect(text).not.toContain(url);
  }
});

test('a form that is not accepted shows the webhook again, which is recorded as a read', async () => {
  const console = await startTestConsole();
  const { service } = console;
  const id = await createWebhook(console);
  const browser = await console.signIn();
  await browser.get('/session');
  const { status, text } = await browser.post(`/webhooks/${id}/delete`, { confirmation: 'guess' });
  expect([status, text]).toEqual([400, expect.stringContaining(url)]);
  const logs = `/logs?entity_type=webhook&entity_id=${id}&operation=read`;
  const { body } = await service.call('GET', logs, undefined, { key: service.managementKey });
  expect(body['data']).toMatchObject([{ outcome: 'success', person: 'Ada Lovelace' }]);
});

test('hostile text in every field is shown as text', async () => {
  const console = await startTestConsole();
  const { service } = console;
  const browser = await console.signIn();
  await browser.get('/webhooks/new');
  const wrong = fields({ url: hostile, description: hostile, containers: hostile }, [hostile]);
  const form = await browser.postAll('/webhooks/new', wrong);
  expect(form.status).toBe(400);
  expect(form.text).not.toContain('<img');
  const body = { url, event_types: ['token.created'], description: hostile };
  const created = await service.call('POST', '/webhooks', body, { key: service.managementKey });
  expect(created.status, created.text).toBe(201);
  for (const path of ['/webhooks', `/webhooks/${created.body['id']}`]) {
    const { text } = await browser.get(path);
    expect(text).toContain(hostileShown);
    expect(text).not.toContain('<img');
    expect(text).not.toContain('\u202E');
  }
});
