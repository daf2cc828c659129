import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';

export type StoreFile = { readonly name: string; readonly content: Buffer };

/**
 * Prints the content of each file, each followed by the mark. A file that no longer exists counts as empty. For example,
 * SQLite removes the journal of a new file once the file has its first table.
 */
const printFiles = 'for file; do cat "$file" || [ ! -e "$file" ] || exit 1; printf %s "$mark"; done';

/**
 * Reads every file in a data directory through a separate process. A process loses its SQLite locks on a file when it
 * closes any handle to that file. If the test's process read the files, it would release locks that the service under
 * test relies on.
 */
export function filesOf(dataDir: string): StoreFile[] {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  const mark = randomUUID();
  const printed = execFileSync('sh', ['-c', printFiles, 'sh', ...paths], {
    maxBuffer: 2 ** 30,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, mark },
  });
  let from = 0;
  return files.map(({ name }) => {
    const to = printed.indexOf(mark, from);
    const content = printed.subarray(from, to);
    from = to + mark.length;
    return { name, content };
  });
}

/**
 * Returns the forms in which a file can contain a string, such as raw, hex, UTF-16, escaped, and base64 at each
 * alignment.
 */
export function formsOf(text: string): { readonly form: string; readonly bytes: Buffer }[] {
  const utf8 = Buffer.from(text);
  const utf16le = Buffer.from(text, 'utf16le');
  const hex = utf8.toString('hex');
  const escaped = JSON.stringify(text).slice(1, -1);
  const ascii = [...text].some((character) => character > '\u007e')
    ? text.replaceAll(/[^\u0020-\u007e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    : text;
  const forms = [
    { form: 'raw', bytes: utf8 },
    { form: 'UTF-16LE', bytes: utf16le },
    { form: 'UTF-16BE', bytes: Buffer.from(utf16le).swap16() },
    { form: 'hex', bytes: Buffer.from(hex) },
    { form: 'HEX', bytes: Buffer.from(hex.toUpperCase()) },
    { form: 'JSON', bytes: Buffer.from(escaped) },
    { form: 'JSON twice', bytes: Buffer.from(JSON.stringify(escaped).slice(1, -1)) },
    { form: 'JSON in ASCII', bytes: Buffer.from(ascii) },
    { form: 'URL', bytes: Buffer.from(encodeURIComponent(text)) },
    { form: 'lower case', bytes: Buffer.from(text.toLowerCase()) },
    { form: 'upper case', bytes: Buffer.from(text.toUpperCase()) },
    ...base64FormsOf(utf8),
  ];
  return forms.filter(({ bytes }) => bytes.length >= 4);
}

/**
 * Returns base64 forms of a string, one for each alignment. Each form consists of the characters that do not depend on
 * the bytes before and after the string.
 */
function base64FormsOf(utf8: Buffer) {
  return [0, 1, 2].flatMap((before) => {
    const shifted = Buffer.concat([Buffer.alloc(before), utf8]);
    const start = Math.ceil((before * 4) / 3);
    const whole = Math.floor((shifted.length * 8) / 6);
    return (['base64', 'base64url'] as const).map((encoding) => ({
      form: `${encoding} at ${before}`,
      bytes: Buffer.from(shifted.toString(encoding).slice(start, whole)),
    }));
  });
}

/** Returns a readable list of the places where the strings occur in the files. */
export function findTexts(files: readonly StoreFile[], texts: Readonly<Record<string, string>>): string[] {
  return Object.entries(texts).flatMap(([what, text]) =>
    formsOf(text).flatMap(({ form, bytes }) =>
      files.filter(({ content }) => content.includes(bytes)).map(({ name }) => `${what} (${form}) in ${name}`),
    ),
  );
}

/** Returns how many times the bytes occur in all files together. */
export function countBytes(files: readonly StoreFile[], bytes: Buffer): number {
  let count = 0;
  for (const { content } of files) {
    for (let at = content.indexOf(bytes); at >= 0; at = content.indexOf(bytes, at + 1)) count += 1;
  }
  return count;
}

export type WrappedKey = { readonly id: string; readonly wrapped: Buffer; readonly destroyed: boolean };

/** Reads the rows of `keys.db` over a separate read-only connection. */
export function wrappedKeys(dataDir: string): Map<string, WrappedKey> {
  const database = pinStatements(join(dataDir, 'keys.db'), { readonly: true });
  try {
    const rows = database.prepare('SELECT hex(id) AS hex, wrapped, destroyed_by FROM data_keys').all() as {
      readonly hex: string;
      readonly wrapped: Buffer;
      readonly destroyed_by: Buffer;
    }[];
    return new Map(
      rows.map(({ hex, wrapped }) => {
        const id = uuidOf(hex.toLowerCase());
        return [id, { id, wrapped, destroyed: wrapped.every((byte) => byte === 0) }];
      }),
    );
  } finally {
    database.close();
  }
}

function uuidOf(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Fails if a file contains part of a wrapped key. The parts are so long that they do not occur by chance. */
export function expectNowhere(dataDir: string, keys: Iterable<WrappedKey>): void {
  const files = filesOf(dataDir);
  const found = [...keys].flatMap(({ id, wrapped }) =>
    partsOf(wrapped).flatMap((part, index) =>
      files.filter(({ content }) => content.includes(part)).map(({ name }) => `part ${index} of ${id} in ${name}`),
    ),
  );
  expect(found).toEqual([]);
}

/**
 * Returns true if any file contains all bytes of the key. A test must find the bytes once before it can claim that they
 * are gone.
 */
export function isSomewhere(dataDir: string, { wrapped }: WrappedKey): boolean {
  return filesOf(dataDir).some(({ content }) => content.includes(wrapped));
}

/** Splits the nonce, the body and the tag into pieces of 12 bytes. A partially overwritten key is then found too. */
function partsOf(wrapped: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 1; at + 12 <= wrapped.length; at += 12) parts.push(wrapped.subarray(at, at + 12));
  return parts;
}
