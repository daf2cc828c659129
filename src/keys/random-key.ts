import { randomFillSync } from 'node:crypto';

/** The length of all keys in bytes. AES-256 and HMAC-SHA-256 both use keys of this length. */
export const keyBytes = 32;

/**
 * Memory for keys outside the V8 heap. Memory is allocated for many keys at once, because a separate allocation would
 * take longer than encrypting with the key. Each part is used for one key only. Do not send a key to another thread:
 * the message would contain the keys next to it.
 */
let memory = Buffer.alloc(0);
let used = 0;
const memoryBytes = 256 * keyBytes;

function nextBytes(length: number): Buffer {
  if (used + length > memory.length) {
    memory = Buffer.from(new ArrayBuffer(Math.max(memoryBytes, length)));
    used = 0;
  }
  used += length;
  return memory.subarray(used - length, used);
}

/**
 * Creates random keys. Threat: if the memory were filled with random bytes before it is needed, an attacker who reads
 * it would find keys long before they are created.
 */
export function randomKeys(count: number): Buffer[] {
  const keys = randomFillSync(nextBytes(count * keyBytes));
  return Array.from({ length: count }, (_, i) => keys.subarray(i * keyBytes, (i + 1) * keyBytes));
}

/**
 * Copies a key to memory that contains only keys and that V8 does not move, and zeroes `bytes`. Threat: an attacker who
 * can read the memory of the process finds remnants of keys. Node's buffer pool keeps old bytes, and V8 moves small
 * buffers within its heap without overwriting the old location.
 */
export function ownBuffer(bytes: Buffer): Buffer {
  const own = nextBytes(bytes.length);
  bytes.copy(own);
  bytes.fill(0);
  return own;
}
