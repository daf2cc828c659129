const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Bytes in base58 with the Bitcoin alphabet: a leading zero byte is a leading `1`. */
export function base58(bytes: Uint8Array): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`);
  let digits = '';
  for (; rest > 0n; rest /= 58n) digits = alphabet.charAt(Number(rest % 58n)) + digits;
  const leadingZeros = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(leadingZeros === -1 ? bytes.length : leadingZeros) + digits;
}
