import { createHmac } from 'node:crypto';
import { openText, sealText } from '../events/sealing/sealed-text.js';
import type { Vault } from '../vault/vault.js';

/**
 * The maximum size of a form in an address, in bytes. The address is a third longer. Common proxies reject addresses
 * above 8 KB, and Node.js rejects requests whose address and headers exceed 16 KB.
 */
const formBytesMax = 4_000;

/** The fields of a form, as a person typed them. */
export type FormFields = Readonly<Record<string, string>>;

/** The page that an address belongs to, and the id of the session that may open it. */
type Place = { readonly path: string; readonly sessionId: string };

type Deps = Pick<Vault, 'integrity' | 'random'>;

/**
 * Returns an address that shows the result of a form again. Returns null if the form is too long for an address.
 * Threat: a form can contain a value, and browsers and proxies store addresses. The form is therefore encrypted with
 * AES-256-GCM, and only the same session can open the address.
 */
export function addressOf({ integrity, random }: Deps, place: Place, fields: FormFields): string | null {
  const text = JSON.stringify(fields);
  if (Buffer.byteLength(text) > formBytesMax) return null;
  const sealed = sealText(keyOf(integrity.console), random, text, partsOf(place));
  return `${place.path}?form=${sealed.toString('base64url')}`;
}

/** Decrypts the form fields in an address. Returns null if the address was not created for this page and session. */
export function formIn({ integrity }: Pick<Deps, 'integrity'>, place: Place, form: string): FormFields | null {
  const text = openText(keyOf(integrity.console), Buffer.from(form, 'base64url'), partsOf(place));
  return text === null ? null : (JSON.parse(text) as FormFields);
}

function keyOf(key: Uint8Array): Buffer {
  return createHmac('sha256', key).update('strongroom.console.form.1').digest();
}

function partsOf({ path, sessionId }: Place): readonly unknown[] {
  return ['strongroom.console.form.1', path, sessionId];
}
