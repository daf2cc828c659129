/**
 * The result of reading a root key. `key` contains 32 bytes, and the caller must zero them after use. `message`
 * describes the problem and how to correct it, and never quotes the content of the file or the output of the command.
 */
export type RootKeyResult =
  | { readonly ok: true; readonly key: Buffer }
  | { readonly ok: false; readonly message: string };

export function noRootKey(message: string): RootKeyResult {
  return { ok: false, message };
}
