import { createPublicKey } from 'node:crypto';
import { Failure } from '../failure.js';
import { readInput } from '../read-input.js';

/**
 * Returns the public key from a file in the format that `audit public-key` prints. Throws Failure if the file cannot be
 * read or does not contain a public key.
 */
export async function readPublicKey(path: string): Promise<string> {
  const text = await readInput(path, 'the public key');
  try {
    const key = createPublicKey(text);
    if (key.asymmetricKeyType === 'ed25519') return key.export({ format: 'pem', type: 'spki' }).toString();
  } catch {
    // The library's error message quotes the content of the file, so our error does not repeat that message.
  }
  throw new Failure(`${path} is not a public key as \`strongroom audit public-key\` prints it.`);
}
