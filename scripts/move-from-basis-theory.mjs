#!/usr/bin/env node
// Reads all tokens of a Basis Theory tenant, and writes one line for each token, including its id, as input for
// `strongroom tokens import -`. docs/how-to/move-from-basis-theory.md explains how to use this script. It needs only
// Node.js 20.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const usage = `usage: node scripts/move-from-basis-theory.mjs --api-key-file FILE [options] | strongroom tokens import -

  --api-key-file FILE  the key of a Basis Theory application that may read every token with the transform reveal
  --address URL        the API to read from (default: https://api.basistheory.com)
  --dry-run            write no tokens, only count them by type
  --help               show this text
`;
const pageSize = 100;
const attemptsMax = 8;
const waitMsMax = 60_000;
const requestMsMax = 60_000;
/** The fields of a token object that a create request accepts. All other fields are meaningful only to Basis Theory. */
const fields = [
  'id',
  'type',
  'data',
  'mask',
  'containers',
  'metadata',
  'search_indexes',
  'fingerprint_expression',
  'expires_at',
];
const types = new Set([
  'token',
  'card',
  'bank',
  'card_number',
  'us_bank_account_number',
  'us_bank_routing_number',
  'social_security_number',
  'employer_id_number',
]);

/** Stands for a number that would lose digits. It is random, so that no value can contain it by chance. */
const lossMark = `lossy-${randomUUID()}`;

class Stopped extends Error {}

const say = (/** @type {string} */ text) => process.stderr.write(`${text}\n`);
// Writing the output fails if the import stops reading early. The import itself prints the reason, so this script exits
// without a message.
process.stdout.on('error', () => process.exit(1));

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof Stopped)) throw error;
  say(error.message);
  process.exitCode = 1;
}

async function main() {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    process.stdout.write(usage);
    return 0;
  }
  const options = optionsOf(args);
  if (options === null) {
    process.stderr.write(usage);
    return 2;
  }
  const { address, key, isDryRun } = options;
  if (!isDryRun && process.stdout.isTTY) {
    say('The output contains the values of all tokens. Pipe it into `strongroom tokens import -`, or use --dry-run.');
    return 2;
  }
  /** @type {Map<string, number>} */
  const counts = new Map();
  let read = 0;
  let skipped = 0;
  for await (const page of pagesOf(address, key)) {
    for (const token of page) {
      const why = whySkipped(token);
      if (why !== null) {
        skipped += 1;
        say(`skipped ${token.id}: ${why}`);
        continue;
      }
      counts.set(token.type, (counts.get(token.type) ?? 0) + 1);
      if (!isDryRun && !process.stdout.write(`${lineOf(token)}\n`)) await once(process.stdout, 'drain');
    }
    read += page.length;
    say(`${read} tokens read`);
  }
  for (const [type, count] of [...counts].sort()) say(`${type}: ${count}`);
  say(`${read - skipped} tokens ${isDryRun ? 'can be moved' : 'written'}, ${skipped} skipped`);
  return skipped === 0 ? 0 : 1;
}

/** Parses the arguments. If they are invalid, reports the error and returns null. @param {readonly string[]} args */
function optionsOf(args) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        'api-key-file': { type: 'string' },
        address: { type: 'string', default: 'https://api.basistheory.com' },
        'dry-run': { type: 'boolean', default: false },
      },
    });
    const { 'api-key-file': file, address } = values;
    if (file === undefined) throw new Error('--api-key-file is required');
    const { protocol, hostname, origin } = new URL(address);
    const isLoopback = hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]';
    if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback)) throw new Error('--address must use https');
    const key = textOf(file).trim();
    if (!/^[\x21-\x7e]+$/.test(key)) throw new Error(`${file} does not contain an API key`);
    return { address: origin, key, isDryRun: values['dry-run'] };
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    return null;
  }
}

/** @param {string} file */
function textOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Returns the tokens page by page, newest first. @param {string} address @param {string} key */
async function* pagesOf(address, key) {
  const seen = new Set();
  let start = '';
  do {
    const query = new URLSearchParams({ size: String(pageSize), ...(start === '' ? {} : { start }) });
    const { data, pagination } = await request(`${address}/v2/tokens?${query}`, key);
    if (!Array.isArray(data)) throw new Stopped('The response is not a page of tokens. Check --address.');
    yield data;
    start = typeof pagination?.next === 'string' ? pagination.next : '';
    if (seen.has(start)) throw new Stopped('The API returned the same cursor twice, so this would never end.');
    seen.add(start);
  } while (start !== '');
}

/**
 * Parses JSON. Replaces each number that would lose digits with a string that marks it, because `JSON.parse` would
 * change the number and the import could no longer reject it. Strings are matched first, so that digits in them are
 * kept. The import accepts the other numbers exactly as they are written.
 * @param {string} text
 */
function parse(text) {
  // Threat: the pattern accepts text that is not JSON, so the text is also parsed unchanged.
  JSON.parse(text);
  const literals = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
  return JSON.parse(
    text.replace(literals, (literal) => (literal[0] === '"' || isFaithful(literal) ? literal : `"${lossMark}"`)),
  );
}

/**
 * Returns true if the import accepts the number, which it does if it loses no digits. Agrees with
 * src/domain/faithful-number.ts.
 * @param {string} literal
 */
function isFaithful(literal) {
  const value = Number(literal);
  if (!/[.eE]/.test(literal)) return Number.isSafeInteger(value);
  const size = Math.abs(value);
  if (size === Infinity || (size > Number.MAX_SAFE_INTEGER && size < 1e21)) return false;
  return digitsOf(literal) === digitsOf(value.toExponential());
}

/** Returns the digits before the exponent without leading and trailing zeros. @param {string} literal */
function digitsOf(literal) {
  const digits = (literal.split(/[eE]/)[0] ?? '').replace(/[-.]/g, '');
  let start = 0;
  let end = digits.length;
  while (start < end && digits[start] === '0') start += 1;
  while (end > start && digits[end - 1] === '0') end -= 1;
  return digits.slice(start, end);
}

/** Retries a request that failed for a temporary reason. @param {string} url @param {string} key */
async function request(url, key) {
  for (let attempt = 1; ; attempt += 1) {
    const result = await attemptRequest(url, key);
    if ('body' in result) return result.body;
    if (!result.mayPass || attempt === attemptsMax) {
      throw new Stopped(`${result.why} Start again later: the import skips the tokens that it has.`);
    }
    await wait(Math.min(waitMsMax, result.waitMs ?? 1_000 * 2 ** (attempt - 1)));
  }
}

/** @param {string} url @param {string} key */
async function attemptRequest(url, key) {
  let response;
  let text;
  try {
    response = await fetch(url, {
      headers: { 'BT-API-KEY': key, accept: 'application/json' },
      // Does not follow redirects, so that no other host receives the key.
      redirect: 'manual',
      signal: AbortSignal.timeout(requestMsMax),
    });
    text = await response.text();
  } catch {
    return { why: 'The API cannot be reached, or ended the connection.', mayPass: true };
  }
  const { status } = response;
  if (status === 200) {
    try {
      return { body: parse(text) };
    } catch {
      return { why: 'The API returned something that is not JSON.', mayPass: true };
    }
  }
  if (status === 429 || status >= 500) {
    const seconds = Number(response.headers.get('retry-after'));
    const waitMs = seconds > 0 ? seconds * 1_000 : undefined;
    return { why: `The API returned ${status} too often.`, mayPass: true, waitMs };
  }
  const hint = status === 401 || status === 403 ? ' Check the key and its permission token:read.' : '';
  return { why: `The API returned ${status}.${hint}`, mayPass: false };
}

/** Returns the reason why a token cannot be moved, or null if it can. @param {any} token */
function whySkipped(token) {
  const { type, data, expires_at: expiresAt } = token;
  if (!types.has(type)) return `its type is ${type}, which Strongroom does not have`;
  if (data === undefined || data === null) return 'the application may not see its data';
  if (lineOf(token).includes(lossMark)) return 'it contains a number that would lose digits';
  if (expiresAt != null && Date.parse(expiresAt) <= Date.now()) return 'it has expired';
  return null;
}

/** @param {any} token */
function lineOf(token) {
  const entries = fields.flatMap((field) => (token[field] == null ? [] : [[field, token[field]]]));
  // Turns deduplication off, so that two tokens with the same value remain two tokens.
  return JSON.stringify({ ...Object.fromEntries(entries), deduplicate_token: false });
}
