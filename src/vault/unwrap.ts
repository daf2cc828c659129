/** The key to the value inside a `Decrypted`. This file exports it for that class alone. */
export const plaintext: unique symbol = Symbol('plaintext');

/**
 * Returns decrypted data. Threat: a route that reads a token's data by itself sends it without a record of who saw it.
 * So only the files that `dependency-cruiser.config.cjs` names may import this one: release, index, export, update and
 * encryption.
 */
export function unwrap<T>(decrypted: { [plaintext](): T }): T {
  return decrypted[plaintext]();
}
