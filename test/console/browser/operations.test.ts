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
  // The test moves the page's clock, so that the page never reloads between two steps of the test.
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
  const expectReload = () => Promise.all([page.waitForEvent('load'), page.clock.runFor(2_000)]);
  await page.goto(`${address}/operations`);
  await expectReload();
  await page.getByText('Rebuild directory').click();
  await page.clock.runFor(10_000);
  await page.getByText('Rebuild directory').click();
  await expectReload();
  expect(loads).toBe(3);
  await page.unrouteAll({ behavior: 'wait' });
  expect(faults).toEqual([]);
});
