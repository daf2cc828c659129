import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const script = fileURLToPath(new URL('../../deploy/helm/strongroom/files/backup.sh', import.meta.url));
const keepDays = 14;
const expired = '2025-01-01T000000Z';

/** Returns a volume for backups, and a stand-in for the program that creates the folder and exits with a code. */
function backups() {
  const dir = mkdtempSync(join(tmpdir(), 'strongroom-backups-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const volume = join(dir, 'backups');
  mkdirSync(volume);
  const program = join(dir, 'program.mjs');
  writeFileSync(
    program,
    `import { mkdirSync } from 'node:fs'; mkdirSync(process.argv[3]); process.exit(+process.argv[4])`,
  );
  const folders = () => readdirSync(volume).filter((name) => name.startsWith('20'));
  return {
    volume,
    folders,
    run(code: number): number | null {
      const env = { ...process.env, BACKUPS: volume, PROGRAM: program };
      const command = ['-euc', `. '${script}'`, 'backup', `${keepDays}`, `${code}`];
      return spawnSync('sh', command, { env, stdio: 'inherit' }).status;
    },
    add: (name: string) => mkdirSync(join(volume, name)),
    /** Makes all backups older than the retention time. */
    age() {
      const old = Date.now() / 1_000 - (keepDays + 2) * 86_400;
      for (const name of folders()) utimesSync(join(volume, name), old, old);
    },
  };
}

test('after a backup with damaged keys, only the newest backup without damaged keys outlives its retention time', () => {
  const { folders, run, add, age } = backups();
  expect(run(0)).toBe(0);
  const intact = folders();
  add(expired);
  age();
  // The names have seconds, so a backup in the same second would have the same name.
  while (intact[0] === `${new Date().toISOString().slice(0, 19).replaceAll(':', '')}Z`);
  expect(run(3)).toBe(3);
  expect(folders()).toHaveLength(2);
  expect(folders()).toContain(intact[0]);
  expect(folders()).not.toContain(expired);
});

test('without a backup that is known to have no damaged keys, and after a failure, no backup is removed', () => {
  for (const code of [3, 1]) {
    const { folders, run, add, age } = backups();
    add(expired);
    age();
    expect(run(code)).toBe(code);
    expect(folders()).toContain(expired);
  }
});

test('a backup whose time could not be recorded is complete, so older backups are removed', () => {
  const { folders, run, add, age } = backups();
  add(expired);
  age();
  expect(run(4)).toBe(4);
  expect(folders()).not.toContain(expired);
  expect(folders()).toHaveLength(1);
});

test('what killed backups left is removed before the next backup, which may need the space', () => {
  for (const code of [0, 1, 3]) {
    const { volume, run, add } = backups();
    const [killed, running] = ['.2025-01-01T000000Z.part-1a2b3c4d', '.2025-01-01T000000Z.part-5e6f7a8b'];
    for (const name of [killed, running]) add(name);
    const old = Date.now() / 1_000 - 2 * 86_400;
    utimesSync(join(volume, killed), old, old);
    expect(run(code)).toBe(code);
    const left = readdirSync(volume);
    expect(left).not.toContain(killed);
    expect(left).toContain(running);
  }
});
