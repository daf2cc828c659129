import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { run, spawnVerb, tempDir } from '../support/process.js';

const width = 80;

/** Returns the words of every command, from the help of the program and of each group in it. */
async function commandsIn(group: readonly string[] = []): Promise<readonly (readonly string[])[]> {
  const { stdout } = await run([...group, '--help']);
  const [, list = ''] = stdout.split(/^Commands:$/m);
  const names = [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name = '']) => name);
  const inner = names.filter((name) => name !== 'help').map((name) => commandsIn([...group, name]));
  return [...(group.length === 0 ? [] : [group]), ...(await Promise.all(inner)).flat()];
}

const commands = await commandsIn();
const isGroup = (one: readonly string[]) =>
  commands.some((other) => other.length > 1 && other[0] === one[0] && one.length === 1);
const verbs = commands.filter((words) => !isGroup(words)).map((words) => words.join(' '));

describe('help', () => {
  test('the commands that it lists are those of the contract', () => {
    expect(verbs).toEqual(
      expect.arrayContaining(['serve', 'init', 'tokens import', 'projections status', 'audit verify', 'clock confirm']),
    );
    expect(verbs.length).toBeGreaterThanOrEqual(31);
  });

  test.each(['', ...commands.map((words) => words.join(' '))])(
    'strongroom %s --help fits in 80 columns',
    async (words) => {
      const { code, stdout, stderr } = await run([...words.split(' ').filter((word) => word !== ''), '--help']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout.split('\n').filter((line) => line.length > width)).toEqual([]);
    },
  );

  test.each(verbs)('strongroom %s explains itself with an example that names the command', async (verb) => {
    const { code, stdout, stderr } = await run([...verb.split(' '), '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`Usage: strongroom ${verb}`);
    const [, example = ''] = stdout.split(/^Examples?:$/m);
    expect(example, stdout).toContain(`strongroom ${verb}`);
    if (verb !== 'serve') expect(stdout).toContain('--json');
  });

  test('strongroom --help lists every group and ends well', async () => {
    const { code, stdout } = await run(['--help']);
    expect(code).toBe(0);
    for (const [group = ''] of commands) expect(stdout).toContain(`  ${group} `);
  });

  test('strongroom --version prints a version', async () => {
    expect(await run(['--version'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });
});

describe('wrong usage ends with 2, says what was wrong, and makes nothing', () => {
  const wrong: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['no verb', [], /Usage: strongroom/],
    ['an unknown verb', ['srve'], /unknown command 'srve'.*\n?.*serve/s],
    ['a group without its verb', ['tenants'], /create/],
    ['an unknown flag', ['serve', '--prot', '1'], /unknown option '--prot'.*\n?.*--port/s],
    ['a missing name', ['tenants', 'create'], /--name/],
    ['a missing file name', ['keys', 'generate-root'], /file/],
    ['a missing id', ['tokens', 'get'], /id/],
    ['too many arguments', ['init', 'extra'], /too many arguments/],
    ['a port that is none', ['serve', '--port', 'http'], /--port: must be a whole number/],
    ['a data directory that is none', ['init', '--data', ''], /--data: must not be empty/],
    ['neither rules nor permissions', ['applications', 'create', '--name', 'a', '--type', 'private'], /--permissions/],
    [
      'rules and permissions',
      ['applications', 'create', '--name', 'a', '--type', 'private', '--permissions', 'token:read', '--rules', '-'],
      /either --permissions or --rules/,
    ],
    ['no application key', ['tokens', 'get', 'some-id'], /--key-file/],
    ['both inputs from standard input', ['tokens', 'create', '--key-file', '-'], /only one of/],
    [
      'both inputs of an import from standard input',
      ['tokens', 'import', '-', '--key-file', '-'],
      /only one of FILE, --key-file and --identity-file/,
    ],
    ['an export that is neither sealed nor in clear', ['tokens', 'export', '--out', 'x'], /--recipient.*--plaintext/s],
    [
      'an export that is both',
      ['tokens', 'export', '--out', 'x', '--plaintext', '--recipient', 'age1'],
      /--recipient.*--plaintext/s,
    ],
    ['a recipient that is none', ['tokens', 'export', '--out', 'x', '--recipient', 'age1x'], /not an age recipient/],
    [
      'an identity in place of a recipient',
      ['tokens', 'export', '--out', 'x', '--recipient', 'AGE-SECRET-KEY-1X'],
      /which is a secret/,
    ],
    ['a page that is none', ['tokens', 'search', 'type:card', '--page', '0'], /whole number/],
    [
      'an application type that is none',
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

test('who reads the output may leave before its end', async () => {
  const ended = spawnVerb(['--help'], { leavesAtOnce: true });
  expect(await ended.ended).toMatchObject({ code: 141, stderr: '' });
});
