import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import type { Vault } from '../vault/vault.js';

const nonceBytes = 12;
const tagBytes = 16;
/** The maximum size of a form in an address, in bytes. Servers and proxies reject longer addresses. */
const formBytesMax = 4_000;

/** The fields of a form, as a person typed them. */
export type FormFields = Readonly<Record<string, string>>;

/** The page that an address belongs to, and the id of the session that may open it. */
type Place = { readonly path: string; readonly sessionId: string };

type Deps = Pick<Vault, 'integrity' | 'random'>;

/**
 * Returns an address that shows the result of a form again. Returns null if the form is too long for an address. Threat:
 * a form can contain a value, and browsers and proxies store addresses. The form is therefore encrypted with
 * AES-256-GCM, and only the same session can open the address.
 */
export function addressOf({ integrity, random }: Deps, place: Place, fields: FormFields): string | null {
  const text = Buffer.from(JSON.stringify(fields));
  if (text.length > formBytesMax) return null;
  const nonce = random.bytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', keyOf(integrity.console), nonce, { authTagLength: tagBytes });
  cipher.setAAD(bytesOf(place));
  const sealed = Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
  return `${place.path}?form=${sealed.toString('base64url')}`;
}

/** Returns the fields of a form in an address. Returns null if the address was not made for this page and session. */
export function formIn({ integrity }: Pick<Deps, 'integrity'>, place: Place, form: string): FormFields | null {
  const sealed = Buffer.from(form, 'base64url');
  if (sealed.length < nonceBytes + tagBytes) return null;
  const nonce = sealed.subarray(0, nonceBytes);
  const decipher = createDecipheriv('aes-256-gcm', keyOf(integrity.console), nonce, { authTagLength: tagBytes });
  decipher.setAAD(bytesOf(place));
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  const text = decipher.update(sealed.subarray(nonceBytes, -tagBytes));
  try {
    decipher.final();
  } catch {
    return null;
  }
  return JSON.parse(text.toString('utf8')) as FormFields;
}

function keyOf(key: Uint8Array): Buffer {
  return createHmac('sha256', key).update('strongroom.console.form.1').digest();
}

function bytesOf({ path, sessionId }: Place): Buffer {
  return Buffer.from(JSON.stringify(['strongroom.console.form.1', path, sessionId]));
}
