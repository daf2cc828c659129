import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { adapted } from './adaptations.js';
import type { Block } from './blocks.js';
import { differences, masked } from './compare.js';
import type { Reader } from './reader.js';

/** The output of the previous block, if that block was a script below the same heading. */
export type Before = { readonly heading: string; readonly stdout: string } | null;

type Rule = {
  readonly covers: (block: Block, before: Before) => boolean;
  /** Runs a block according to this rule. Returns the list of errors and the block's output. */
  readonly follow: (block: Block, reader: Reader, before: string) => Promise<Followed>;
};
type Followed = { readonly wrong: readonly string[]; readonly stdout?: string };

/** The rules for blocks. The first rule that covers a block applies to it. */
const rules: readonly Rule[] = [
  { covers: ({ language }) => language === 'sh', follow: runScript },
  {
    covers: (block, before) => isKind(block, 'json') && follows(block, before) && isJson(before),
    follow: compareAnswer,
  },
  { covers: (block, before) => isKind(block, 'text') && follows(block, before), follow: compareOutput },
  { covers: (block) => isKind(block, 'json') && hasKeys(block, ['transform', 'container']), follow: grantRule },
  { covers: (block) => isKind(block, 'json') && request.test(block.heading), follow: sendRequest },
  { covers: (block) => isKind(block, 'json'), follow: useAsSettings },
  { covers: (block) => isKind(block, 'query'), follow: search },
  { covers: (block) => isKind(block, 'ts'), follow: findInSource },
  { covers: (block) => isKind(block, 'yaml'), follow: findInChart },
];

/**
 * Runs or checks one block. Each error begins with the file and the line. A block that is not covered by a rule is an
 * error.
 */
export async function followBlock(block: Block, reader: Reader, before: Before): Promise<Followed> {
  const place = `${block.page}:${block.line}`;
  const rule = rules.find(({ covers }) => covers(block, before));
  if (rule === undefined) return { wrong: [`${place}: no rule covers a block of \`${block.language}\` here`] };
  const { wrong, ...rest } = await rule.follow(block, reader, before?.stdout ?? '');
  return { ...rest, wrong: wrong.map((text) => `${place}: ${text}`) };
}

const request = /`(POST|PUT|PATCH) (\/\S+)`/;

function isKind({ language }: Block, kind: string): boolean {
  return language === kind;
}

function follows({ heading }: Block, before: Before): boolean {
  return before !== null && before.heading === heading;
}

function isJson(before: Before): boolean {
  try {
    JSON.parse(before?.stdout ?? '');
    return true;
  } catch {
    return false;
  }
}

function hasKeys({ text }: Block, keys: readonly string[]): boolean {
  return keys.every((key) => text.includes(`"${key}"`));
}

async function runScript({ text }: Block, { run, ids, ports }: Reader): Promise<Followed> {
  const withRealIds = [...ids].reduce((now, [said, real]) => now.replaceAll(said, real), text);
  const { ok, stdout, stderr } = await run(adapted(withRealIds, ports));
  return { stdout, wrong: ok ? [] : [`failed: ${stderr}\n${stdout}`] };
}

async function compareAnswer({ text }: Block, { ids }: Reader, stdout: string): Promise<Followed> {
  return { stdout, wrong: differences(JSON.parse(text), JSON.parse(stdout), ids) };
}

async function compareOutput({ text }: Block, _reader: Reader, stdout: string): Promise<Followed> {
  const [said, real] = [masked(text).trim(), masked(stdout).trim()];
  return { stdout, wrong: said === real ? [] : [`the output is\n${real}\nand not\n${said}`] };
}

async function grantRule({ text }: Block, { project, run }: Reader): Promise<Followed> {
  writeFileSync(join(project, 'block.json'), `[${text}]`);
  const { ok, stderr } = await run(
    'node dist/bin/strongroom.js applications create --name block --type private --rules block.json --json',
  );
  return { wrong: ok ? [] : [`is no access rule: ${stderr}`] };
}

async function sendRequest({ text, heading }: Block, { project, ports }: Reader): Promise<Followed> {
  const [, method = '', path = ''] = request.exec(heading) ?? [];
  const [name = '', key = ''] = readFileSync(join(project, 'data/quickstart.header'), 'utf8').trim().split(': ');
  const headers = { [name]: key, 'content-type': 'application/json' };
  const answer = await fetch(`http://127.0.0.1:${ports.port}${path}`, { method, headers, body: text });
  return { wrong: answer.ok ? [] : [`${method} ${path} answers ${answer.status}: ${await answer.text()}`] };
}

async function useAsSettings({ text }: Block, { project, run }: Reader): Promise<Followed> {
  writeFileSync(join(project, 'block.json'), text);
  const { ok, stderr } = await run('node dist/bin/strongroom.js config print --config block.json');
  return { wrong: ok ? [] : [`is neither an answer, nor a request, nor settings: ${stderr}`] };
}

/** Sends each line as a separate query. */
async function search(block: Block, reader: Reader): Promise<Followed> {
  const queries = block.text.split('\n').filter((line) => line !== '');
  const sent = queries.map((query) =>
    sendRequest({ ...block, heading: '`POST /tokens/search`', text: JSON.stringify({ query }) }, reader),
  );
  return { wrong: (await Promise.all(sent)).flatMap(({ wrong }) => wrong) };
}

/** Checks that the code on a page is an excerpt of our source code, so that the compiler checks it too. */
async function findInSource({ text }: Block, { project }: Reader): Promise<Followed> {
  const files = readdirSync(join(project, 'src'), { recursive: true, encoding: 'utf8' });
  const found = files
    .filter((file) => file.endsWith('.ts'))
    .some((file) => unspaced(readFileSync(join(project, 'src', file), 'utf8')).includes(unspaced(text)));
  return { wrong: found ? [] : ['stands in no file of src'] };
}

/** Checks that the chart has each of the values. `test/kubernetes` checks what the chart makes of them. */
async function findInChart({ text }: Block, { project }: Reader): Promise<Followed> {
  const chart: unknown = parse(readFileSync(join(project, 'deploy/helm/strongroom/values.yaml'), 'utf8'));
  return { wrong: missingIn(chart, parse(text)).map((path) => `the chart has no value ${path}`) };
}

function missingIn(chart: unknown, values: unknown, path = ''): readonly string[] {
  if (!isMapping(values)) return [];
  return Object.entries(values).flatMap(([name, value]) => {
    const below = path === '' ? name : `${path}.${name}`;
    return isMapping(chart) && Object.hasOwn(chart, name) ? missingIn(chart[name], value, below) : [below];
  });
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unspaced(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
