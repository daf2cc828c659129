import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { run, spawnCommand, tempDir } from '../support/process.js';

const width = 80;

type Help = { readonly words: string; readonly isGroup: boolean; readonly ended: Awaited<ReturnType<typeof run>> };

/** Returns the help text for the program, each command group and each command. */
async function helpOf(words: readonly string[] = []): Promise<readonly Help[]> {
  const ended = await run([...words, '--help']);
  const [, list = ''] = ended.stdout.split(/^Commands:$/m);
  const names = [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name = '']) => name);
  const inner: Help[] = [];
  for (const name of names) if (name !== 'help') inner.push(...(await helpOf([...words, name])));
  return [{ words: words.join(' '), isGroup: names.length > 0, ended }, ...inner];
}

const helps = await helpOf();
const verbs = helps.filter(({ isGroup }) => !isGroup);

describe('help', () => {
  test('exists for every command', () => {
    expect(verbs.map(({ words }) => words)).toEqual(
      expect.arrayContaining(['serve', 'init', 'tokens import', 'projections status', 'audit verify', 'clock confirm']),
    );
    expect(verbs.length).toBeGreaterThanOrEqual(30);
  });

  test.each(helps)('strongroom $words --help fits in 80 columns', ({ ended: { code, stdout, stderr } }) => {
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n').filter((line) => line.length > width)).toEqual([]);
  });

  test.each(verbs)('strongroom $words explains itself with an example that names the command', ({ words, ended }) => {
    expect(ended.stdout).toContain(`Usage: strongroom ${words}`);
    const [, example = ''] = ended.stdout.split(/^Examples?:$/m);
    expect(example, ended.stdout).toContain(`strongroom ${words}`);
    if (words !== 'serve') expect(ended.stdout).toContain('--json');
  });

  test('strongroom --help lists every group', () => {
    const [program] = helps;
    for (const { words } of helps.slice(1)) expect(program?.ended.stdout).toContain(`  ${words.split(' ')[0]} `);
  });

  test('strongroom --version prints a version', async () => {
    expect(await run(['--version'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });
});

describe('a usage error exits with code 2, gives the reason, and creates nothing', () => {
  const wrong: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['no command', [], /Usage: strongroom/],
    ['an unknown command', ['srve'], /unknown command 'srve'.*\n?.*serve/s],
    ['a group without a command', ['tenants'], /create/],
    ['an unknown flag', ['serve', '--prot', '1'], /unknown option '--prot'.*\n?.*--port/s],
    ['a missing name', ['tenants', 'create'], /--name/],
    ['a missing file name', ['keys', 'generate-root'], /file/],
    ['a missing id', ['tokens', 'get'], /id/],
    ['a root key on standard output', ['keys', 'generate-root', '-'], /cannot write to standard output/],
    ['too many arguments', ['init', 'extra'], /too many arguments/],
    ['a boolean that is neither true nor false', ['serve', '--dev', 'yes'], /--dev: must be true or false/],
    ['an invalid port', ['serve', '--port', 'http'], /--port: must be a whole number/],
    ['an empty data directory', ['init', '--data', ''], /--data: must not be empty/],
    ['an empty path of an option', ['tokens', 'export', '--out', '', '--plaintext'], /^--out must not be empty/],
    ['an empty path among several', ['backup', 'x', '--recipient-file', ''], /^--recipient-file must not be empty/],
    ['an empty path of an argument', ['keys', 'generate-root', ''], /^file must not be empty/],
    ['an empty name of the first tenant', ['init', '--name', ''], /^name: must have 1 to 200 characters/],
    ['a name with a control character', ['init', '--name', 'a\u001b[1m'], /none of them a control character/],
    ['neither rules nor permissions', ['applications', 'create', '--name', 'a', '--type', 'private'], /--permissions/],
    [
      'rules and permissions',
      ['applications', 'create', '--name', 'a', '--type', 'private', '--permissions', 'token:read', '--rules', '-'],
      /either --permissions or --rules/,
    ],
    ['both inputs from standard input', ['tokens', 'create', '--api-key-file', '-'], /only one of/],
    [
      'both inputs of an import from standard input',
      ['tokens', 'import', '-', '--api-key-file', '-'],
      /only one of FILE, --api-key-file and --identity-file/,
    ],
    [
      'an export that is neither encrypted nor in plaintext',
      ['tokens', 'export', '--out', 'x'],
      /--recipient.*--plaintext/s,
    ],
    [
      'an export that is encrypted and in plaintext',
      ['tokens', 'export', '--out', 'x', '--plaintext', '--recipient', 'age1'],
      /--recipient.*--plaintext/s,
    ],
    ['an invalid recipient', ['tokens', 'export', '--out', 'x', '--recipient', 'age1x'], /not an age recipient/],
    [
      'an identity in place of a recipient',
      ['tokens', 'export', '--out', 'x', '--recipient', 'AGE-SECRET-KEY-1X'],
      /which is a secret/,
    ],
    ['an invalid page', ['tokens', 'search', 'type:card', '--page', '0'], /--page.*whole number/],
    ['a page that is too large', ['tokens', 'search', 'type:card', '--size', '101'], /--size.*from 1 to 100/],
    ['a page of a history that is too large', ['audit', 'history', 'an-id', '--size', '101'], /--size.*from 1 to 100/],
    [
      'an unknown application type',
      ['applications', 'create', '--name', 'a', '--type', 'x', '--permissions', 'token:read'],
      /--type.*private, public, management/s,
    ],
  ];

  test.each(wrong)('%s', async (_what, args, message) => {
    const cwd = tempDir();
    const { code, stdout, stderr } = await run(args, { cwd });
    expect({ code, stdout }, stderr).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(readdirSync(cwd)).toEqual([]);
  });
});

test('a reader that closes the output early causes no error', async () => {
  const ended = spawnCommand(['--help'], { leavesAtOnce: true });
  expect(await ended.ended).toMatchObject({ code: 141, stderr: '' });
});
