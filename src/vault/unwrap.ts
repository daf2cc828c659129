/** The name of the method that returns the value in a `Decrypted`. It is exported only for the class `Decrypted`. */
export const plaintext: unique symbol = Symbol('plaintext');

/**
 * Returns decrypted data. Threat: a route reads a token's data directly, and sends it without a record in the access
 * log. For this reason, only the files that `dependency-cruiser.config.cjs` lists may import this file. They implement
 * release, indexing, export, updates and encryption.
 */
export function unwrap<T>(decrypted: { [plaintext](): T }): T {
  return decrypted[plaintext]();
}
