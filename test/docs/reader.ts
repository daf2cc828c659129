import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../support/free-ports.js';
import type { KnownIds } from './compare.js';

export const root = fileURLToPath(new URL('../../', import.meta.url));
const shellStart = join(root, 'test/docs/reader.sh');
const blockLimitMs = 300_000;

/**
 * A reader who follows a page. The reader has a fresh copy of the project, a shell, and the ids from earlier responses.
 */
export type Reader = {
  /** The reader's copy of the project. Blocks run in this folder. */
  readonly project: string;
  /** Free ports for the servers started by the blocks: the service, its admin listener and the shop. */
  readonly ports: { readonly port: number; readonly adminPort: number; readonly shopPort: number };
  readonly ids: KnownIds;
  /** Runs a script in bash, and returns its output. The next script sees the variables set by this script. */
  run(script: string): Promise<{ readonly ok: boolean; readonly stdout: string; readonly stderr: string }>;
  close(): Promise<void>;
};

export async function newReader(): Promise<Reader> {
  const place = mkdtempSync(join(tmpdir(), 'strongroom-docs-'));
  const project = join(place, 'strongroom');
  // A page can create a second user that runs programs in this folder. That user needs access to the folder.
  chmodSync(place, 0o755);
  const leftOut = new Set(['node_modules', '.git', 'data', 'data.root-key', 'coverage']);
  cpSync(root, project, { recursive: true, filter: (path) => !leftOut.has(relative(root, path)) });
  bringCertificate(project);
  const [port = 0, adminPort = 0, shopPort = 0] = await freePorts(3);
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: place,
    USER: userInfo().username,
    PLACE: place,
    INSTALLED_MODULES: join(root, 'node_modules'),
    STRONGROOM_PORT: String(port),
    STRONGROOM_ADMIN_PORT: String(adminPort),
  };
  const run = (script: string) =>
    new Promise<{ ok: boolean; stdout: string; stderr: string }>((resolve) => {
      const options = { cwd: project, env, timeout: blockLimitMs, maxBuffer: 64 * 1024 * 1024 };
      const text = `. '${shellStart}'\n${script}\n`;
      execFile('bash', ['-c', text], options, (error, stdout, stderr) =>
        resolve({ ok: error === null, stdout, stderr: error === null ? stderr : `${error.message}\n${stderr}` }),
      );
    });
  // Every page except the first assumes that the reader has installed the vault.
  await run('use_installed_modules');
  return {
    project,
    ports: { port, adminPort, shopPort },
    ids: new Map<string, string>(),
    run,
    async close() {
      await run('stop_background');
      rmSync(place, { recursive: true, force: true });
    },
  };
}

/** Creates the certificate that, according to the pages, a reader already has. */
function bringCertificate(dir: string): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const files = ['-keyout', join(dir, 'tls.key'), '-out', join(dir, 'tls.pem')];
  const kind = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=localhost',
  ];
  execFileSync('openssl', ['req', '-x509', ...kind, ...files], { stdio: 'pipe' });
}
