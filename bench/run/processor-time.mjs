import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/**
 * The threads of a process: the thread that serves requests, the thread that writes to the disk, and all other threads
 * together.
 */
export const threads = ['serving', 'writing', 'other'];

/**
 * Returns the processor time that each thread of a process has used since its start, in µs, and how many bytes the
 * thread has written. Returns an empty list if the system does not report these values. The benchmark compares
 * processor times, because these depend less on the other programs on the machine than the requests per second do.
 */
export function processorTime(pid) {
  if (pid === undefined || process.platform !== 'linux') return [];
  return readdirSync(`/proc/${pid}/task`).map((thread) => {
    const file = (name) => readFileSync(`/proc/${pid}/task/${thread}/${name}`, 'utf8');
    const micros = Number(file('schedstat').split(' ')[0]) / 1000;
    return { thread, micros, written: Number(/^write_bytes: (\d+)$/m.exec(file('io'))[1]) };
  });
}

/**
 * Returns the processor time that the threads used between two results of `processorTime`, in µs, keyed by the names in
 * `threads`. The first thread is the serving thread. Node.js does not name its threads, so the thread that has written
 * the most, apart from the serving thread, is assumed to be the writer thread.
 */
export function timeBetween(before, after, pid) {
  if (after.length === 0) return Object.fromEntries(threads.map((name) => [name, Number.NaN]));
  const others = after.filter(({ thread }) => thread !== String(pid));
  const writer = others.reduce((most, one) => (one.written > (most?.written ?? 0) ? one : most), undefined);
  const spent = { serving: 0, writing: 0, other: 0 };
  for (const one of after) {
    const name = one.thread === String(pid) ? 'serving' : one === writer ? 'writing' : 'other';
    spent[name] += one.micros - (before.find(({ thread }) => thread === one.thread)?.micros ?? 0);
  }
  return spent;
}

/** Returns the processor time that all processes on the machine have used since it started, in µs. */
export function machineTime() {
  return cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + (user + nice + sys + irq) * 1000, 0);
}
