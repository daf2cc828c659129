import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { expect, test } from 'vitest';
import { makeRootKey, tempDir } from '../support/process.js';
import { type Container, podsOf, render } from './rendered.js';

const project = fileURLToPath(new URL('../..', import.meta.url));
const script = fileURLToPath(new URL('pod.sh', import.meta.url));

function containersOf(maintenance: boolean, recipient: string): ReadonlyMap<string, Container> {
  const pods = podsOf(
    render('embedded', {
      maintenance,
      shutdownDelaySeconds: 3,
      backup: { recipients: [recipient] },
      rootKey: { nextExistingSecret: 'strongroom-root-key-2' },
    }),
  );
  return new Map(
    pods.flatMap(({ of, spec: { containers } }) => containers.map((container) => [of, container] as const)),
  );
}

/** Replaces the path of the backups with one that exists on this machine. */
const moved = (text: string): string => text.replace(/^\/backups$/, '/mnt/backups');

test('the embedded profile runs from its manifests, on mounts like those of kubelet: init, serve, back up, stop, restore, rotate', async () => {
  const input = tempDir();
  const identity = await generateIdentity();
  const recipient = await identityToRecipient(identity);
  writeFileSync(join(input, 'backup.identity'), `${identity}\n`, { mode: 0o600 });
  const [running, idle] = [containersOf(false, recipient), containersOf(true, recipient)];
  const [serve, backup] = [running.get('StatefulSet strongroom'), running.get('CronJob strongroom-backup')];
  const maintenance = idle.get('Deployment strongroom-maintenance');
  expect(serve?.args).toEqual(['serve']);
  for (const [name, container] of Object.entries({ serve, backup, maintenance })) {
    const lines = container?.env.map((variable) => `${variable.name}=${moved(variable.value)}`) ?? [];
    writeFileSync(join(input, `${name}.env`), `${lines.join('\n')}\n`);
  }
  const erasedKeys = running.get('CronJob strongroom-erased-keys');
  expect(erasedKeys?.env).toEqual(backup?.env);
  for (const [name, container] of Object.entries({ backup, 'erased-keys': erasedKeys })) {
    writeFileSync(join(input, `${name}.command`), (container?.command ?? []).map((part) => `${part}\0`).join(''));
  }
  renameSync(makeRootKey(input), join(input, 'next.key'));
  makeRootKey(input);
  const certificate = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const files = ['-keyout', join(input, 'tls.key'), '-out', join(input, 'tls.crt')];
  execFileSync('openssl', ['req', '-x509', ...certificate, ...names, ...files], { stdio: 'ignore' });
  for (const file of ['root.key', 'next.key', 'tls.key']) chmodSync(join(input, file), 0o600);

  const began = Date.now() / 1_000;
  const namespaces = ['--mount', '--net', '--fork', '--kill-child'];
  const ran = spawnSync('unshare', [...namespaces, script, project, input], { encoding: 'utf8', timeout: 170_000 });
  expect([ran.status, ran.stderr]).toEqual([0, '']);
  const { backup_metric: backupMetric, ...said } = Object.fromEntries(
    [...ran.stdout.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
  expect(said).toEqual({
    created: '201',
    capabilities: '0000000000000000 0000000000000000',
    user: '10001:10001',
    writes_program: 'no',
    backups: '1 1',
    lists: '1',
    restored: '0 201',
    rotated: '0 201',
    with_next_key: '201',
    // The process reports that it is not ready, but still serves requests.
    stopping: '503 201',
    stopped: '0 1',
    again: '201',
    stopped_again: '0',
  });
  expect(Number(backupMetric)).toBeGreaterThan(began);
});
