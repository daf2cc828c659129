/** The name of the method that returns the value inside a `Decrypted`. It is exported only for that class. */
export const plaintext: unique symbol = Symbol('plaintext');

/**
 * Returns decrypted data. Threat: a route that reads a token's data directly would send it without a record in the
 * access log. Only the files that `dependency-cruiser.config.cjs` lists may therefore import this file. They are the
 * files for release, indexing, export, updates and encryption.
 */
export function unwrap<T>(decrypted: { [plaintext](): T }): T {
  return decrypted[plaintext]();
}
