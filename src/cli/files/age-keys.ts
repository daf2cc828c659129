import type { Decrypter, Encrypter } from 'age-encryption';
import type { Command } from 'commander';
import { Failure } from '../failure.js';
import { readInput, readSecret } from '../read-input.js';

/** Adds the options that name the recipients. `what` is what the command encrypts, for the help text. */
export function withRecipients(command: Command, what: 'it' | 'the keys'): Command {
  return command
    .option('--recipient <age1...>', `encrypt ${what} to this age recipient; can be repeated`, collect)
    .option('--recipient-file <file>', `encrypt ${what} to the age recipients in this file, one per line`, collect);
}

function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

/**
 * Returns an encrypter for `recipients` and for the recipients in the files. Each line of a file contains one
 * recipient. An invalid recipient is a usage error.
 */
export async function encrypterFor(recipients: readonly string[], files: readonly string[]): Promise<Encrypter> {
  const { Encrypter } = await age();
  const encrypter = new Encrypter();
  for (const recipient of recipients) addRecipient(encrypter, recipient, '--recipient');
  for (const file of files) {
    const lines = keyLines(await readInput(file, 'the recipients'));
    if (lines.length === 0) throw new Failure(`${file} contains no age recipient (age1…). Write one on each line.`, 2);
    for (const line of lines) addRecipient(encrypter, line, file);
  }
  return encrypter;
}

/**
 * Returns a decrypter for the identities in a file. The file contains one identity per line, in the format that
 * `age-keygen` writes.
 */
export async function decrypterFrom(file: string): Promise<Decrypter> {
  const { Decrypter } = await age();
  const decrypter = new Decrypter();
  const lines = keyLines(await readSecret(file, 'the identity'));
  if (lines.length === 0)
    throw new Failure(`${file} contains no age identity. Use a file that \`age-keygen\` wrote.`, 2);
  for (const line of lines) {
    try {
      decrypter.addIdentity(line);
    } catch {
      throw new Failure(`${file} contains a line that is not an age identity (AGE-SECRET-KEY-…).`, 2);
    }
  }
  return decrypter;
}

/** Loads the library on demand, because it loads slowly and few commands encrypt files. */
function age() {
  return import('age-encryption');
}

/**
 * Adds a recipient. The error message never repeats the input, because the input may be an identity (a secret key) that
 * the operator passed by mistake.
 */
function addRecipient(encrypter: Encrypter, recipient: string, from: string): void {
  if (/^age-secret-key-/i.test(recipient)) {
    throw new Failure(
      `${from} contains an identity, which is a secret. Use its recipient, which \`age-keygen -y FILE\` prints.`,
      2,
    );
  }
  try {
    encrypter.addRecipient(recipient);
  } catch {
    throw new Failure(`${from} contains a line that is not an age recipient (age1…).`, 2);
  }
}

function keyLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}
