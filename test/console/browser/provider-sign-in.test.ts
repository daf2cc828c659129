import { expect, test } from 'vitest';
import { openChromium } from '../../support/console/chromium.js';
import { startTestConsole } from '../../support/console/console.js';
import { startTestProvider } from '../../support/console/provider.js';
import { freePort } from '../../support/free-ports.js';

test.each([true, false])(
  'a person signs in at the identity provider and returns with a session (scripts: %s)',
  async (scripts) => {
    const port = await freePort();
    // As in production, the console and the provider are on different sites. The provider is at 127.0.0.1.
    const address = `http://localhost:${port}`;
    const provider = await startTestProvider(address, { ada: { name: 'Ada Lovelace', groups: ['support'] } });
    const console = await startTestConsole({
      async identityOf(service) {
        const { body } = await service.call('GET', '/applications/key');
        const rule = { group: 'support', tenantId: service.tenantId, private: String(body['id']) };
        return provider.identity(service.clock, { rules: [{ ...rule, management: null, isOperator: false }] });
      },
    });
    await console.service.call('POST', '/tokens', { type: 'token', data: 'first', id: 'customer-1' });
    await console.listen(port);
    const { page, context, faults } = await openChromium({ javaScriptEnabled: scripts });
    await page.goto(`${address}/sign-in`);
    await page.getByRole('button', { name: 'Sign in with your identity provider' }).click();
    await page.locator('input[name=login]').fill('ada');
    await page.locator('input[name=password]').fill('any');
    await page.getByRole('button').click();
    // The browser accepts the session's `Strict` cookie, although the console set the cookie after a redirect from the
    // provider's site.
    await page.waitForURL(`${address}/`);
    await page.getByRole('link', { name: 'Tokens' }).first().click();
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    expect(await page.content()).toContain('Ada Lovelace');
    const cookies = await context.cookies(address);
    expect(cookies.find(({ name }) => name.endsWith('strongroom-session'))).toMatchObject({
      sameSite: 'Strict',
      httpOnly: true,
      secure: true,
    });
    expect(cookies.map(({ name }) => name)).not.toContain('__Host-strongroom-sign-in');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto(`${address}/tokens`);
    expect(page.url()).toBe(`${address}/sign-in`);
    expect(faults).toEqual([]);
  },
);
