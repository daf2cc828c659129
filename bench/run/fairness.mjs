import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { attackNames } from '../load/attacks.mjs';
import { startLoadGenerator, strongroomJson } from './processes.mjs';
import { createFresh, summary } from './rounds.mjs';
import { makeVault } from './vault.mjs';

const applications = 50;
const largeTokens = 100;
const largeBytes = 480_000;
/** The workloads of the quiet tenant, which sends one request at a time and alternates between these workloads. */
const works = ['get revealed', 'create card'];
const stored = 2_000;
const sizes = {
  quick: { count: 60, rounds: 1 },
  normal: { count: 800, rounds: 5 },
  full: { count: 1_000, rounds: 5 },
};
const attackLeadMs = 2_000;

/**
 * Measures the get and create requests of a quiet tenant. First, no other tenant sends requests. Then another tenant
 * runs each attack alone, and finally all attacks together. Each result is a summary over the rounds, in ms. `longest`
 * is the duration of the slowest request.
 */
export async function measureFairness({ directory, mode, say }) {
  const { count, rounds } = sizes[mode];
  const vault = await makeVault(join(directory, 'fairness'), stored);
  const { management_key: managementKey } = await strongroomJson([
    'tenants',
    'create',
    ...vault.flags,
    '--name',
    'hostile',
  ]);
  const service = await vault.start();
  const generator = startLoadGenerator();
  const fresh = createFresh(10_000_000);
  try {
    say(`${largeTokens} tokens of ${largeBytes} bytes with hostile masks`);
    const hostile = await hostileKeys(service.origin, managementKey);
    const ids = await createLarge(service.origin, hostile.revealing);
    const job = { origin: service.origin, keys: hostile.masking, ids };
    const measured = [];
    let from = 0;
    const measure = async () => {
      const chunks = { 'get revealed': [], 'create card': [] };
      for (let round = 0; round <= rounds; round += 1) {
        for (const work of works) {
          const asked = { work, origins: [service.origin], keys: vault.keys, connections: 1, count, from, stored };
          from += count;
          const times = await generator.run({ ...asked, fresh: fresh(count) });
          if (round > 0) chunks[work].push(times);
        }
      }
      return Object.fromEntries(works.map((work) => [work, figuresOf(chunks[work])]));
    };
    say('at rest');
    const atRest = await measure();
    for (const attacks of [...attackNames.map((name) => [name]), attackNames]) {
      const name = attacks.length === 1 ? attacks[0] : 'all together';
      say(name);
      const attacker = await startAttack({ ...job, attacks });
      await wait(attackLeadMs);
      const figures = await measure();
      const answered = await attacker.stop();
      measured.push({ name, answered, ...figures });
    }
    return {
      fairness: { connections: 64, applications, largeTokens, largeBytes, stored, count, rounds, atRest, measured },
    };
  } finally {
    await generator.stop();
    await service.stop();
  }
}

/**
 * Creates 50 applications with the transform `mask` for the attacks, and one application that can reveal and create
 * tokens. Returns their keys.
 */
async function hostileKeys(origin, managementKey) {
  const make = async (name, transform) => {
    const permissions = ['token:create', 'token:read', 'token:use'];
    const rules = [{ description: 'all', priority: 0, container: '/', transform, permissions }];
    const headers = { 'service-api-key': managementKey, 'content-type': 'application/json' };
    const body = JSON.stringify({ name, type: 'private', rules });
    const response = await request(`${origin}/applications`, { method: 'POST', headers, body });
    return (await response.body.json()).key;
  };
  const masking = [];
  for (let i = 0; i < applications; i += 1) masking.push(await make(`masking-${i}`, 'mask'));
  return { masking, revealing: await make('revealing', 'reveal') };
}

async function createLarge(origin, key) {
  const mask = Array.from({ length: 100 }, () => "{{ data | card_mask: 'true','true','#','-' | size }}");
  const ids = [];
  for (let i = 0; i < largeTokens; i += 1) {
    const body = JSON.stringify({ type: 'token', data: `${i}-`.padEnd(largeBytes, '1-'), mask });
    const headers = { 'service-api-key': key, 'content-type': 'application/json' };
    const response = await request(`${origin}/tokens`, { method: 'POST', headers, body });
    ids.push((await response.body.json()).id);
  }
  return ids;
}

async function startAttack(job) {
  const child = fork(fileURLToPath(new URL('../load/attacks.mjs', import.meta.url)));
  // Lowers the priority of the attacks. A real attacker uses a separate machine, and so takes no CPU time from the
  // vault or the quiet tenant.
  setPriority(child.pid, 10);
  const ended = once(child, 'exit');
  child.send(job);
  await once(child, 'message');
  return {
    async stop() {
      const answer = once(child, 'message');
      child.send('stop');
      const [answered] = await Promise.race([answer, wait(30_000).then(() => [null])]);
      child.kill();
      await ended;
      return answered;
    },
  };
}

function figuresOf(chunks) {
  const of = (figure) => summary(chunks.map((chunk) => chunk[figure]));
  return { p50: of('p50'), p99: of('p99'), longest: of('longest') };
}
