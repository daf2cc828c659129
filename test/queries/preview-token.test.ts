import { expect, onTestFinished, test } from 'vitest';
import { finish } from '#src/domain/steps.js';
import { type PreviewRequest, previewToken } from '#src/queries/preview-token.js';
import { release } from '#src/queries/release.js';
import { logs } from '../http/routes/list-logs/support.js';
import { card, create, createPlain, uniqueId } from '../http/routes/support.js';
import { rule, startTestService, type TestService } from '../support/test-service.js';

async function callerOf(service: TestService, key: string) {
  const caller = await service.service.authenticate(key);
  if (caller === null) throw new Error('the key is good');
  return caller;
}

async function contextOf(service: TestService, key: string) {
  return { caller: await callerOf(service, key), traceId: 'preview', beganAt: performance.now() };
}

/** Returns the result of a preview: the decisions, and the token as the viewer would see it. */
async function preview(
  service: TestService,
  callerKey: string,
  asked: Pick<PreviewRequest, 'applicationId' | 'tokenId'> & Partial<PreviewRequest>,
  viewerKey: string | null = null,
) {
  const context = await contextOf(service, callerKey);
  const viewer = viewerKey === null ? null : await contextOf(service, viewerKey);
  const request = { access: null, permission: 'token:read', viewer, ...asked } as const;
  const result = await previewToken(service.vault, context, request);
  if (!result.ok) return { rejected: result.code, errors: Object.keys(result.errors ?? {}) };
  const { token, decisions, isLimited } = result.value;
  const body = token === null ? null : finish((await release(service.vault, viewer ?? context, [token]))(token));
  const transforms = Object.fromEntries(decisions.map(({ permission, transform }) => [permission, transform]));
  const rules = Object.fromEntries(
    decisions.map(({ permission, rule: one }) => [permission, one?.description ?? null]),
  );
  return { transforms, rules, isLimited, body };
}

async function start() {
  const service = await startTestService();
  onTestFinished(service.close);
  const idOf = async (key: string) => (await callerOf(service, key)).applicationId;
  return { service, idOf };
}

test('a preview names the transform and the deciding rule for each permission, and shows the token as a read would', async () => {
  const { service, idOf } = await start();
  const { id: tokenId } = await create(service, { type: 'card', data: card, containers: ['/pci/high/'] });
  const rules = [
    { ...rule('/', 'redact', ['token:read'], 2), description: 'all' },
    { ...rule('/pci/', 'mask', ['token:read', 'token:search'], 1), description: 'cards' },
    { ...rule('/pci/', 'reveal', ['token:use'], 3), description: 'use' },
  ];
  const key = await service.application(rules);
  const admin = await service.application(['token:use', 'token:read']);
  const applicationId = await idOf(key);
  const { managementKey } = service;
  const seen = await preview(service, managementKey, { applicationId, tokenId });
  expect(seen).toEqual({
    transforms: {
      'token:create': null,
      'token:read': 'mask',
      'token:update': null,
      'token:delete': null,
      'token:search': 'mask',
      'token:use': 'reveal',
    },
    rules: {
      'token:create': null,
      'token:read': 'cards',
      'token:update': null,
      'token:delete': null,
      'token:search': 'cards',
      'token:use': 'use',
    },
    isLimited: true,
    body: null,
  });
  const own = await preview(service, managementKey, { applicationId, tokenId }, key);
  const got = await service.call('GET', `/tokens/${tokenId}`, undefined, { key });
  expect(own.body).toEqual(got.body);
  for (const caller of [admin, key]) {
    expect(await preview(service, caller, { applicationId, tokenId })).toEqual({ rejected: 'forbidden', errors: [] });
  }
});

test('no preview shows a value to a caller that may not read it', async () => {
  const { service, idOf } = await start();
  const { id: tokenId } = await createPlain(service, { data: 'the-value', metadata: { note: 'the-note' } });
  const masking = await service.application(['token:read']);
  const redacting = await service.application([rule('/', 'redact', ['token:read'])]);
  const creating = await service.application(['token:create']);
  const revealing = await idOf(service.key);
  const reveal = { rules: [{ container: '/', transform: 'reveal', permissions: ['token:read', 'token:use'] }] };
  for (const permission of ['token:read', 'token:search', 'token:use'] as const) {
    for (const access of [null, reveal]) {
      const seen = await preview(service, service.managementKey, {
        applicationId: revealing,
        tokenId,
        access,
        permission,
      });
      expect(seen).toMatchObject({ body: null });
      expect(JSON.stringify(seen)).not.toMatch(/the-value|the-note/);
    }
  }
  for (const viewer of [masking, redacting, creating]) {
    const itself = { applicationId: await idOf(viewer), tokenId };
    for (const asked of [{ applicationId: revealing, tokenId }, itself, { ...itself, access: reveal }]) {
      const seen = await preview(service, service.managementKey, asked, viewer);
      expect(seen).toHaveProperty('body');
      expect(JSON.stringify(seen)).not.toContain('the-value');
    }
  }
});

test('rules that are not saved yet can be previewed, and the application does not change', async () => {
  const { service, idOf } = await start();
  const { id: tokenId } = await createPlain(service, { containers: ['/a/'] });
  const applicationId = await idOf(await service.application([rule('/a/', 'reveal', ['token:read'])]));
  const edited = (transform: string) => ({ rules: [{ container: '/a/', transform, permissions: ['token:read'] }] });
  const asked = { applicationId, tokenId };
  const { managementKey: key } = service;
  expect(await preview(service, key, { ...asked, access: edited('redact') })).toMatchObject({
    transforms: { 'token:read': 'redact' },
  });
  expect(await preview(service, key, asked)).toMatchObject({ transforms: { 'token:read': 'reveal' } });
  expect(await preview(service, key, { ...asked, access: { permissions: ['token:use'] } })).toMatchObject({
    transforms: { 'token:read': null, 'token:use': 'reveal' },
  });
  expect(await preview(service, key, { ...asked, access: edited('show') })).toEqual({
    rejected: 'validation_failed',
    errors: ['rules[0].transform'],
  });
  const reader = await service.application(['application:read'], 'management');
  expect(await preview(service, reader, asked)).toMatchObject({ transforms: { 'token:read': 'reveal' } });
  expect(await preview(service, reader, { ...asked, access: edited('mask') })).toMatchObject({ rejected: 'forbidden' });
});

test('applications and tokens that do not exist or belong to another tenant are not found', async () => {
  const { service, idOf } = await start();
  const { id: tokenId } = await createPlain(service);
  const applicationId = await idOf(service.key);
  const foreign = await service.otherManagement();
  const { managementKey: key } = service;
  expect(await preview(service, key, { applicationId: uniqueId(), tokenId })).toMatchObject({
    rejected: 'application_not_found',
  });
  expect(await preview(service, foreign, { applicationId, tokenId })).toMatchObject({
    rejected: 'application_not_found',
  });
  expect(await preview(service, key, { applicationId, tokenId: uniqueId() })).toMatchObject({
    rejected: 'token_not_found',
  });
});

test('the access log records a preview and the token that it shows', async () => {
  const { service, idOf } = await start();
  const { id: tokenId } = await createPlain(service);
  const applicationId = await idOf(service.key);
  await preview(service, service.managementKey, { applicationId, tokenId });
  const read = 'what an application sees of the token was previewed';
  const recorded = async () => (await logs(service, { entity_id: tokenId })).map(({ message }) => message);
  expect(await recorded()).toEqual([read, 'token created']);
  await preview(service, service.managementKey, { applicationId, tokenId }, service.key);
  expect([...(await recorded())].sort()).toEqual(['token created', 'token shown in plaintext', read, read]);
});

test('a viewer in the same tenant sees no more of a previewed token than its own rules allow', async () => {
  const { service, idOf } = await start();
  const { id: tokenId } = await create(service, { type: 'card', data: card, containers: ['/pci/'] });
  const applicationId = await idOf(await service.application([rule('/', 'reveal', ['token:read'])]));
  const context = await contextOf(service, service.managementKey);
  const seenBy = async (key: string) => {
    const viewer = await contextOf(service, key);
    const asked = { applicationId, tokenId, access: null, permission: 'token:read', viewer } as const;
    const result = await previewToken(service.vault, context, asked);
    if (!result.ok || result.value.token === null) return result.ok ? null : result.code;
    const { token, isLimited } = result.value;
    const data = finish((await release(service.vault, viewer, [token]))(token))?.['data'];
    return { transform: token.transform, isLimited, data };
  };
  expect(await seenBy(service.key)).toEqual({ transform: 'reveal', isLimited: false, data: card });
  const masking = await service.application(['token:read']);
  expect(await seenBy(masking)).toMatchObject({ transform: 'mask', isLimited: true });
  expect(await seenBy(await service.application([rule('/other/', 'reveal', ['token:read'])]))).toBe(null);
  await expect(seenBy(await service.otherTenant())).rejects.toThrow('a viewer must belong to the tenant of the caller');
});
