import { createBrowser, type TestBrowser, type Transport, toListener } from '../../support/console/browser.js';
import type { Service } from '../../support/process.js';

/** The settings that turn on the console of a process, on a free port. */
export const consoleEnv = { STRONGROOM_CONSOLE_ENABLED: 'true', STRONGROOM_CONSOLE_PORT: '0' };

/** Returns the transport to the console of a process. The process logs the console's address when it is ready. */
export function consoleOf({ stdout }: Pick<Service, 'stdout'>): Transport {
  const [, address] = /"console_address":"([^"]+)"/.exec(stdout()) ?? [];
  if (address === undefined) throw new Error('the process serves no console');
  return toListener(address);
}

/** Signs in with these fields of the form, and returns the browser. */
export async function signInAt(to: Transport, fields: Readonly<Record<string, string>>): Promise<TestBrowser> {
  const browser = createBrowser(to);
  await browser.get('/sign-in');
  const answer = await browser.post('/sign-in', { name: 'Ada Lovelace', ...fields });
  if (answer.status !== 303) throw new Error(`the sign-in ended with ${answer.status}: ${answer.text}`);
  return browser;
}
