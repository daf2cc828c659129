import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/**
 * What the threads of a process took of the processors until now, µs: the one that serves, which is the first, and all others.
 * It changes less than requests a second when others compute on the machine too. NaN where the system does not tell.
 */
export function processorTime(pid) {
  const time = { serving: Number.NaN, others: Number.NaN };
  if (pid === undefined || process.platform !== 'linux') return time;
  const of = (thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1000;
  const others = readdirSync(`/proc/${pid}/task`).filter((thread) => thread !== String(pid));
  return { serving: of(pid), others: others.reduce((sum, thread) => sum + of(thread), 0) };
}

/** What all processes of the machine took of its processors until now, µs. */
export function machineTime() {
  return cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + (user + nice + sys + irq) * 1000, 0);
}
