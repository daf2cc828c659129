import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/**
 * The threads of the vault's process: the thread that serves requests, the thread that writes to the disk, the
 * background thread, which runs checkpoints and moves access records, and all other threads together.
 */
export const threads = ['serving', 'writing', 'background', 'other'];

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
 * `threads`. The first thread is the serving thread. Node.js does not name its threads. Apart from the serving thread,
 * the two threads that have written the most are the writer thread and the background thread. The writer thread starts
 * first, so it has the lower number.
 */
export function timeBetween(before, after, pid) {
  if (after.length === 0) return Object.fromEntries(threads.map((name) => [name, Number.NaN]));
  const [writer, background] = after
    .filter(({ thread, written }) => thread !== String(pid) && written > 0)
    .toSorted((one, other) => other.written - one.written)
    .slice(0, 2)
    .toSorted((one, other) => Number(one.thread) - Number(other.thread));
  const names = new Map([
    [String(pid), 'serving'],
    [writer?.thread, 'writing'],
    [background?.thread, 'background'],
  ]);
  const spent = Object.fromEntries(threads.map((name) => [name, 0]));
  for (const { thread, micros } of after) {
    const earlier = before.find((one) => one.thread === thread)?.micros ?? 0;
    spent[names.get(thread) ?? 'other'] += micros - earlier;
  }
  return spent;
}

/** Returns the processor time that all processes on the machine have used since it started, in µs. */
export function machineTime() {
  return cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + (user + nice + sys + irq) * 1000, 0);
}
