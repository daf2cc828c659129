/**
 * A key of the caller's JSON as a path of an error shows it: `*` when it is long or has six or more digits. Threat: a key
 * is data too, and may be the number of somebody (contract, section 1 "Errors").
 */
export function printableKey(key: string): string {
  return key.length <= 40 && !/(?:\p{N}\P{N}*){6}/u.test(key) && !/\p{C}/u.test(key) ? key : '*';
}
