/**
 * `key` contains 32 bytes, which the caller must zero after use. `message` describes the problem and how to correct it.
 * It never quotes the content of the file or the output of the command.
 */
export type RootKeyResult =
  | { readonly ok: true; readonly key: Buffer }
  | { readonly ok: false; readonly message: string };

export function noRootKey(message: string): RootKeyResult {
  return { ok: false, message };
}
