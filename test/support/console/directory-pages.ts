import type { TestBrowser } from './browser.js';
import type { TestConsole } from './console.js';

/** A name that breaks a page unless the page treats the name as plain text. */
export const hostile = '<img src=x onerror=alert(1)>{{ page.csrf }}\u202Egpj.exe 🔐';
/** The HTML that pages contain for `hostile`. */
export const hostileShown = '&lt;img src=x onerror=alert(1)&gt;{{ page.csrf }}⟨U+202E⟩gpj.exe 🔐';

/** Returns the value of a hidden field on a page. */
export function hidden(text: string, name: string): string {
  return new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';
}

/** Returns the first API key shown on a page, or null if the page shows no key. */
export function keyOn(text: string): string | null {
  return /sr_(?:private|public|management)_\w{49,}/.exec(text)?.[0] ?? null;
}

/** Creates an application through the API. Returns its id and its key. */
export async function createApplication({ service }: TestConsole, fields: object) {
  const body = { name: 'shop', type: 'private', permissions: ['token:read'], ...fields };
  const created = await service.call('POST', '/applications', body, { key: service.managementKey });
  if (created.status !== 201) throw new Error(created.text);
  return { id: String(created.body['id']), key: String(created.body['key']) };
}

/** Returns an application as the API shows it. */
export async function applicationOf({ service }: TestConsole, id: string) {
  return (await service.call('GET', `/applications/${id}`, undefined, { key: service.managementKey })).body;
}

/** Returns the keys of an application as the API shows them. */
export async function keysOf({ service }: TestConsole, id: string): Promise<readonly { readonly id: string }[]> {
  const path = `/applications/${id}/keys`;
  const { text } = await service.call('GET', path, undefined, { key: service.managementKey });
  return JSON.parse(text);
}

/** Signs in with a management key that has only these permissions. */
export async function signInLimited(
  console: TestConsole,
  permissions: Parameters<TestConsole['service']['application']>[0],
): Promise<TestBrowser> {
  return console.signIn({ managementKey: await console.service.application(permissions, 'management') });
}
