/** `key` is 32 bytes that the caller zeroes when done. `message` says what is wrong and what to do, never contents. */
export type RootKeyResult =
  | { readonly ok: true; readonly key: Buffer }
  | { readonly ok: false; readonly message: string };

export function noRootKey(message: string): RootKeyResult {
  return { ok: false, message };
}
