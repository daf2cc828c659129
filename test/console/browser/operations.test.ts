import { expect, test } from 'vitest';
import { issueOperatorCode } from '#src/console/sessions.js';
import { openChromium } from '../../support/console/chromium.js';
import { startTestConsole } from '../../support/console/console.js';

test('while work is running, the page reloads, but not while a person types or reads an open section', async () => {
  const console = await startTestConsole();
  const { page, faults } = await openChromium();
  const address = await console.listen();
  await page.goto(`${address}/sign-in`);
  await page.getByLabel('Your name').fill('Ada Lovelace');
  await page.getByLabel('Operator code').fill(await issueOperatorCode(console.service.vault));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  let loads = 0;
  // Rebuilding so few tokens takes only a moment. The test therefore marks the page as if work were still running.
  await page.route(`${address}/operations`, async (route) => {
    loads += 1;
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replace('<body>', '<body data-reload>') });
  });
  await page.goto(`${address}/operations`);
  await expect.poll(() => loads, { timeout: 10_000 }).toBeGreaterThan(1);
  await page.getByText('Rebuild directory').click();
  const before = loads;
  await page.waitForTimeout(5_000);
  expect(loads).toBe(before);
  await page.getByText('Rebuild directory').click();
  await expect.poll(() => loads, { timeout: 10_000 }).toBeGreaterThan(before);
  await page.unrouteAll({ behavior: 'wait' });
  expect(faults).toEqual([]);
}, 60_000);
