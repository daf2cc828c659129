import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/**
 * Returns the processor time of the threads of a process so far, µs: of the serving thread, which is the first, and of
 * all others. It varies less than requests per second when other programs use the machine. NaN where the system does
 * not report it.
 */
export function processorTime(pid) {
  const time = { serving: Number.NaN, others: Number.NaN };
  if (pid === undefined || process.platform !== 'linux') return time;
  const of = (thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1000;
  const others = readdirSync(`/proc/${pid}/task`).filter((thread) => thread !== String(pid));
  return { serving: of(pid), others: others.reduce((sum, thread) => sum + of(thread), 0) };
}

/** Returns the processor time of all processes of the machine so far, µs. */
export function machineTime() {
  return cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + (user + nice + sys + irq) * 1000, 0);
}
