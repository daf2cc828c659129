// node scripts/console-screenshots.mjs
//
// Takes the screenshots of the console for the README: a token in the light theme and the overview in the dark theme.
// The script fills a temporary vault with 30 days of sample data, moving the vault's clock forward between requests. It
// then opens the vault's console in Chromium (`/usr/bin/chromium`, or the path in `STRONGROOM_TEST_CHROMIUM`).
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { writeLastBackup } from '#src/adapters/sqlite/backup/last-backup.js';
import { consoleOperations } from '#src/cli/console/console-operations.js';
import { createTenant } from '#src/commands/tenancy/create-tenant.js';
import { openEmbedded } from '#src/compose/embedded/embedded.js';
import { createKeyRotationWork } from '#src/compose/vault/key-rotation-work.js';
import { createConsole } from '#src/console/console-app.js';
import { issueOperatorCode } from '#src/console/sessions.js';
import { tokenPermissions } from '#src/domain/access/permission.js';
import { createApp } from '#src/http/server/app.js';

const images = 'docs/images';
const sizeBytesMax = 250_000;
const dayMs = 86_400_000;
const days = 30;
const shownToken = 'customer-1003';
// Card numbers from the test ranges of the card networks.
const cardNumbers = ['4242424242424242', '5555555555554444', '378282246310005', '6011111111111117'];

/** How far the vault's clock is behind real time, in ms. */
let behindMs = (days - 1) * dayMs;
const clock = { now: () => Date.now() - behindMs };
/** @param {unknown} error */
const report = (error) => console.error(error);

/** Returns the create request for a sample token. */
function sampleToken(/** @type {number} */ at) {
  const id = `customer-${1_000 + at}`;
  const metadata = { order: `o-${4_711 + at}` };
  if (at % 5 === 1) {
    const data = `623-45-${6_000 + at}`;
    return { id, type: 'social_security_number', data, containers: ['/identity/'], metadata };
  }
  if (at % 7 === 2) {
    const data = { routing_number: '021000021', account_number: `000${123_000 + at}` };
    return { id, type: 'bank', data, containers: ['/bank/'], metadata };
  }
  const number = cardNumbers[at % cardNumbers.length];
  const data = { number, expiration_month: 1 + (at % 12), expiration_year: 2030 };
  return { id, type: 'card', data, containers: ['/pci/high/'], metadata };
}

/** Returns how many requests of one kind to send on a given day: fewer on weekends, and slightly more each week. */
function requestsOn(/** @type {number} */ day, /** @type {number} */ perDay) {
  const weekday = new Date(clock.now()).getUTCDay();
  const share = weekday === 0 || weekday === 6 ? 0.35 : 0.8 + ((day * 7) % 5) / 10;
  return Math.round(perDay * share * (1 + day / 90));
}

/**
 * Sends 30 days of requests to the API.
 *
 * @param {Awaited<ReturnType<typeof openEmbedded>>} service
 * @param {{ checkout: string, support: string }} keys
 */
async function fill(service, keys) {
  const app = createApp(service, {
    headerNames: { apiKey: ['service-api-key'], traceId: ['service-trace-id'], idempotencyKey: ['idempotency-key'] },
    acceptsBearer: false,
    corsOrigins: [],
    trustedProxies: [],
    behindTlsProxy: false,
    tls: null,
    log: { request: () => undefined, error: report },
  });
  /** Sends a request, and throws if its status is not the expected one. */
  async function send(
    /** @type {string} */ key,
    /** @type {'GET' | 'POST' | 'DELETE'} */ method,
    /** @type {string} */ url,
    /** @type {number} */ expected,
    /** @type {object | undefined} */ payload,
  ) {
    const headers = { 'service-api-key': key };
    const response = await app.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) });
    if (response.statusCode !== expected) throw new Error(`${method} ${url}: ${response.statusCode} ${response.body}`);
  }

  let created = 0;
  for (let day = 0; day < days; day += 1) {
    for (let one = requestsOn(day, 12); one > 0; one -= 1) {
      await send(keys.checkout, 'POST', '/tokens', 201, sampleToken(created));
      created += 1;
    }
    for (let one = requestsOn(day, 30); one > 0; one -= 1) {
      await send(keys.support, 'GET', `/tokens/customer-${1_000 + ((one * 37) % created)}`, 200, undefined);
    }
    for (let one = requestsOn(day, 9); one > 0; one -= 1) {
      await send(keys.checkout, 'GET', `/tokens/customer-${1_000 + ((one * 53) % created)}`, 200, undefined);
    }
    for (let one = day % 4; one > 0; one -= 1) {
      await send(keys.support, 'DELETE', `/tokens/customer-${1_000 + one}`, 403, undefined);
    }
    await service.checkpointer.run();
    behindMs = Math.max(0, behindMs - dayMs);
  }
  await app.close();
}

/**
 * Signs in with full access, and takes both screenshots.
 *
 * @param {string} address
 * @param {{ private: string, management: string, operatorCode: string }} credentials
 */
async function takeScreenshots(address, credentials) {
  const executablePath = process.env['STRONGROOM_TEST_CHROMIUM'] ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args: ['--headless', '--no-sandbox', '--disable-gpu'] });
  try {
    const page = await browser.newPage({ viewport: { width: 1_280, height: 760 }, reducedMotion: 'reduce' });
    await page.goto(address);
    await page.getByLabel('Your name').fill('Ada Lovelace');
    await page.getByLabel('Private key').fill(credentials.private);
    await page.getByLabel('Management key').fill(credentials.management);
    await page.getByLabel('Operator code').fill(credentials.operatorCode);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.goto(`${address}/tokens/${shownToken}`);
    await page.getByLabel('Reason for viewing the value').fill('Chargeback 81');
    await page.screenshot({ path: join(images, 'console-token.png') });
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    // The image ends below the second row of cards.
    await page.setViewportSize({ width: 1_280, height: 718 });
    // The vault updates the daily counts and looks for ended keys in the background. The script waits until both have
    // caught up.
    for (let left = 60; left > 0; left -= 1) {
      await page.goto(address);
      if ((await page.getByText(/\d events? behind/).count()) === 0) break;
      await page.waitForTimeout(1_000);
    }
    await page.screenshot({ path: join(images, 'console-overview.png') });
  } finally {
    await browser.close();
  }
}

const dataDir = await mkdtemp(join(tmpdir(), 'strongroom-screenshots-'));
const service = await openEmbedded({
  dataDir,
  rootKey: randomBytes(32),
  mode: 'any',
  clock,
  cvcRetentionMs: 3_600_000,
  onError: report,
  onBroken: report,
});
try {
  const { vault } = service;
  const access = (/** @type {'mask' | 'reveal'} */ transform, /** @type {typeof tokenPermissions} */ permissions) => ({
    kind: /** @type {const} */ ('rules'),
    rules: [{ description: '', priority: 1, container: '/', transform, permissions }],
  });
  const application = { type: /** @type {const} */ ('private'), expiresAt: null };
  const tenant = await createTenant(vault, 'Example shop', [
    { ...application, name: 'checkout', access: access('reveal', tokenPermissions) },
    { ...application, name: 'support', access: access('mask', ['token:read', 'token:search']) },
  ]);
  const [checkout, support] = tenant.keys.map((key) => key.reveal());
  if (checkout === undefined || support === undefined) throw new Error('the tenant has two private applications');
  await fill(service, { checkout, support });
  await writeLastBackup(dataDir, Date.now() - 3 * 3_600_000);
  service.start();

  const place = { named: null, file: null, command: null, nextFile: null, dataDir, isDev: true };
  const rotation = createKeyRotationWork(vault.keys.rotation, place, true, async () => undefined);
  const app = await createConsole(service, {
    allowedHosts: [],
    trustedProxies: [],
    behindTlsProxy: false,
    tls: null,
    log: { request: () => undefined, error: report },
    identity: null,
    operations: consoleOperations({ ...service, rotation }),
  });
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  const operatorCode = await issueOperatorCode(vault);
  await takeScreenshots(address, { private: checkout, management: tenant.managementKey.reveal(), operatorCode });
  await app.close();
} finally {
  await service.close();
  await rm(dataDir, { recursive: true, force: true });
}
for (const name of ['console-token.png', 'console-overview.png']) {
  const { size } = await stat(join(images, name));
  console.log(`${join(images, name)}: ${size} bytes`);
  if (size > sizeBytesMax) throw new Error(`${name} is larger than ${sizeBytesMax} bytes`);
}
