/**
 * `key` is 32 bytes that the caller must zero when done. `message` states the problem with advice, never the content.
 */
export type RootKeyResult =
  | { readonly ok: true; readonly key: Buffer }
  | { readonly ok: false; readonly message: string };

export function noRootKey(message: string): RootKeyResult {
  return { ok: false, message };
}
