import { fstatSync, statSync } from 'node:fs';
import { devNull } from 'node:os';
import type { Json } from '../domain/json.js';
import { Failure } from './failure.js';

/** Prints a command's result, as one line of JSON if `--json` is set and as text otherwise. */
export function print(value: Json, { json }: { readonly json?: boolean | undefined }, text: () => string): void {
  printLine(shown(value, json, text));
}

/**
 * Creates a key that is shown only once, and prints it. If the key cannot be printed, also writes the text of `lost` to
 * standard error, which says what was created and how to replace the key. Throws Failure before the key is created if
 * the output would be discarded.
 */
export async function printNewKey<T extends Json>(
  { json }: { readonly json?: boolean | undefined },
  create: () => Promise<T>,
  text: (created: T) => string,
  lost: (created: T) => string,
): Promise<void> {
  expectOutput();
  const created = await create();
  // The stream calls this function before it emits the error, which ends the process.
  printLine(
    shown(created, json, () => text(created)),
    (error) => {
      if (error != null) writeError(`${lost(created)}\n`);
    },
  );
}

/** Throws Failure if standard output is discarded. Node.js opens the null device in place of a closed standard output. */
function expectOutput(): void {
  const output = fstatSync(1);
  if (!output.isCharacterDevice() || output.rdev !== statSync(devNull).rdev) return;
  throw new Failure(
    'standard output is closed or discarded, so the new key would be lost. Nothing was created. Redirect standard ' +
      'output to a file that only you can read, or to a program that stores the key.',
    2,
  );
}

function shown(value: Json, json: boolean | undefined, text: () => string): string {
  return json === true ? JSON.stringify(value) : text();
}

/**
 * Prints text. Escapes control characters as in JSON, except line endings and tabs. Threat: an application stores
 * control sequences, and the operator's terminal executes them when they are printed. Or it stores characters that
 * change the order of others, so that a value looks like another. `JSON.stringify` would not escape these characters or
 * U+007F to U+009F, so it is not sufficient. Calls `onWritten` when the text is written or could not be written.
 */
export function printLine(text: string, onWritten?: (error?: Error | null) => void): void {
  process.stdout.write(`${withoutControls(text)}\n`, onWritten);
}

/**
 * Writes a message to standard error. Escapes control characters and replaces API keys. Threat: an attacker who can
 * read logs finds an API key in a message. A message can repeat an argument, or the response of a server that echoes
 * the request.
 */
export function writeError(text: string): void {
  process.stderr.write(withoutControls(text.replaceAll(apiKey, '[API key]')));
}

function withoutControls(text: string): string {
  return text.replaceAll(control, escaped);
}

const control = /[^\P{Cc}\n\t]|[\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;
const apiKey = /sr_(?:private|public|management)_[0-9A-Za-z]+/g;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
