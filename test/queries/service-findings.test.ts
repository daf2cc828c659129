import { expect, onTestFinished, test, vi } from 'vitest';
import type { WebhookState } from '#src/ports/webhook-store.js';
import { shredEndedKeys } from '#src/projections/shredder.js';
import { serviceFindings, tenantFindings } from '#src/queries/findings/service-findings.js';
import { operate } from '../audit/operate.js';
import { rowsAttacker } from '../commands/integrity/rows-attacker.js';
import { createPlain } from '../http/routes/support.js';
import { startTestService, type TestService } from '../support/test-service.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

async function start() {
  const service = await startTestService();
  onTestFinished(service.close);
  const state = async (changes: object = {}) => ({ ...(await service.service.state()), ...changes });
  return {
    service,
    operator: async (changes: object = {}) => serviceFindings(service.vault, await state(changes)),
    tenant: async (tenantId = service.tenantId, changes: object = {}) =>
      tenantFindings(service.vault, await state(changes), tenantId),
  };
}

function problemsIn(findings: Awaited<ReturnType<typeof serviceFindings>>): readonly string[] {
  return findings.filter(({ state }) => state === 'problem').map(({ check }) => check);
}

/** Makes an application suspect, by recording that it deduplicated many values without a hit. */
async function makeSuspect({ vault, clock }: TestService, applicationId: string): Promise<void> {
  const budget = { max: 100, windowMs: hourMs, suspectAbove: 10 };
  const request = { need: 50, spare: 'none', hits: 0, now: clock.now() } as const;
  await vault.budgets.reserve('deduplication_misses', applicationId, budget, request);
}

/** Creates a webhook whose deliveries fail repeatedly. Returns the id of the webhook. */
async function failingWebhook({ call, vault, clock }: TestService, key: string): Promise<string> {
  const body = { url: 'https://receiver.example/hook', event_types: ['token.created'] };
  const { status, text, body: created } = await call('POST', '/webhooks', body, { key });
  expect(status, text).toBe(201);
  const id = String(created['id']);
  const pending = [{ position: 1, stream: 'token-00', revision: 0, attempts: 9, nextAt: clock.now() }];
  const state: WebhookState = { position: 1, replaysFrom: 0, pending, attempts: [], parked: [], denials: null };
  expect(await vault.webhookStore.save(id, (await vault.webhookStore.state(id))?.version ?? 0, state, [])).toBe(true);
  return id;
}

test('a new service has only one problem, the missing backup', async () => {
  const { operator, tenant } = await start();
  const checks = ['stores', 'projections', 'deadlines', 'checkpoint', 'backup', 'guessing', 'webhooks'];
  expect((await operator()).map(({ check }) => check)).toEqual(checks);
  expect(problemsIn(await operator())).toEqual(['backup']);
  const ofTenant = ['readiness', 'clock', 'checkpoint', 'backup', 'guessing', 'webhooks'];
  expect((await tenant()).map(({ check }) => check)).toEqual(ofTenant);
  expect(problemsIn(await tenant())).toEqual(['backup']);
});

test('a projection that is far behind is a problem, unless it is the shredder, which runs only once a minute', async () => {
  const { operator } = await start();
  const found = async (name: string, gap: number | null) =>
    problemsIn(await operator({ projections: [{ name, gap }] }));
  for (const name of ['tokens', 'directory', 'shredder']) {
    expect(await found(name, 999)).toEqual(['backup']);
    expect(await found(name, null)).toEqual(['projections', 'backup']);
  }
  expect(await found('tokens', 1_000)).toEqual(['projections', 'backup']);
  expect(await found('shredder', 1_000_000)).toEqual(['backup']);
});

test('a shredder that has not checked events for minutes is a problem until it has checked them', async () => {
  const { service, operator } = await start();
  const many = Array.from({ length: 100 }, (_, index) => ({ type: 'token', data: index }));
  for (let count = 0; count < 10; count += 1) {
    const { status, text } = await service.call('POST', '/tokenize', many);
    expect(status, text).toBe(200);
  }
  const { log, keys } = service.vault;
  service.clock.advance(5 * 60_000 - 1);
  // A new event must not hide that the others are old.
  await createPlain(service, {});
  expect(problemsIn(await operator())).not.toContain('shredder');
  service.clock.advance(1);
  // In the cluster profile, the state lacks a gap that could not be counted within a second.
  await vi.waitFor(async () => expect(problemsIn(await operator())).toContain('shredder'), { timeout: 30_000 });
  expect(problemsIn((await operate(service.service, 'diagnose', { fix: false })).findings)).toContain('shredder');
  expect(await shredEndedKeys(log, keys)).toBe(0);
  expect(problemsIn(await operator())).not.toContain('shredder');
});

test('an overdue expiry, an unsigned log and an old backup are problems', async () => {
  const { service, operator, tenant } = await start();
  await createPlain(service, { expires_at: new Date(service.clock.now() + hourMs).toISOString() });
  const backupMadeAt = service.clock.now();
  expect(problemsIn(await operator({ backupMadeAt }))).toEqual([]);
  service.clock.advance(2 * dayMs);
  expect(problemsIn(await operator({ backupMadeAt }))).toEqual(['deadlines', 'checkpoint']);
  service.clock.advance(1);
  expect(problemsIn(await operator({ backupMadeAt }))).toEqual(['deadlines', 'checkpoint', 'backup']);
  expect(problemsIn(await tenant(undefined, { backupMadeAt }))).toEqual(['checkpoint', 'backup']);
  await service.service.sweep.run();
  await service.service.checkpointer.run();
  expect(problemsIn(await operator({ backupMadeAt: service.clock.now() }))).toEqual([]);
});

test('a tenant sees its own suspects and webhooks, and an operator sees those of all tenants', async () => {
  const { service, operator, tenant } = await start();
  const caller = await service.service.authenticate(service.key);
  const applicationId = caller?.applicationId ?? '';
  await makeSuspect(service, applicationId);
  const webhookId = await failingWebhook(service, service.managementKey);
  for (const findings of [await operator(), await tenant()]) {
    expect(problemsIn(findings)).toEqual(['backup', 'guessing', 'webhooks']);
    const said = findings.map(({ says }) => says).join('\n');
    expect(said).toContain(applicationId);
    expect(said).toContain(webhookId);
  }
});

test('a tenant learns nothing about other tenants, the log or damage', async () => {
  const { service, operator, tenant } = await start();
  const otherKey = await service.otherTenant();
  const other = await service.service.authenticate(otherKey);
  const management = await service.otherManagement();
  await makeSuspect(service, other?.applicationId ?? '');
  const webhookId = await failingWebhook(service, management);
  service.clock.advance(2 * hourMs);
  const secret = {
    reasons: ['the row of token-secretstream is not authentic'],
    notices: [{ check: 'clock', says: 'the newest time that the vault recorded: secretnotice', do: 'Correct it' }],
  };
  const full = JSON.stringify(await operator(secret));
  const hidden = [other?.applicationId ?? '', webhookId, 'secretstream', 'secretnotice', 'position'];
  for (const text of hidden) expect(full).toContain(text);
  const seen = await tenant(service.tenantId, secret);
  for (const text of hidden) expect(JSON.stringify(seen)).not.toContain(text);
  expect(problemsIn(seen)).toEqual(['readiness', 'clock', 'checkpoint', 'backup']);
});

test('the forged row of an application that may be guessing does not matter for the findings of another tenant', async () => {
  const { service, tenant } = await start();
  const other = await service.service.authenticate(await service.otherTenant());
  const applicationId = other?.applicationId ?? '';
  await makeSuspect(service, applicationId);
  const attacker = await rowsAttacker(service);
  await attacker.editRecord('application', applicationId, { mac: Buffer.alloc(32) });
  await attacker.close();
  expect(problemsIn(await tenant(service.tenantId, { reasons: [] }))).toEqual(['backup']);
  expect(service.errors.map(String).join()).toContain(applicationId);
});
