import { machineTime, processorTime } from './processor-time.mjs';

// Measures workloads side by side. Each round runs every competitor once, in turn, so that disturbances of the machine
// affect all of them.

/** Summarizes the numbers of all rounds: the median and the range. */
export function summary(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = sorted.length % 2 === 1 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
  return { median, low: sorted[0], high: sorted.at(-1) };
}

/** Creates a counter of unused token numbers. One counter serves the whole run. */
export function createFresh(first) {
  let next = first;
  return (count) => {
    next += count;
    return next - count;
  };
}

/**
 * Runs `work` against each competitor, `{ name, origins, keys, stored, prepare?, pid?, work?, warmUp? }`, for this
 * many rounds after one that is discarded, which has `warmUp` requests, or as many as the other rounds. Returns by
 * name `{ perSecond, p50, p95, p99 }`, each a summary, ms, and `ratio`: the requests per second of the first
 * competitor divided by those of the others, round by round. With `pid`, also returns the processor time of a request,
 * µs: `serving`, by the serving thread; `others`, by all other threads of its process; and `machine`, by all
 * processes, including load and stores.
 */
export async function sideBySide(generator, { work, connections, count, rounds, fresh, competitors }) {
  const results = competitors.map(() => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [
      i,
      { origins, keys, stored, prepare, pid, work: own = work, warmUp = count },
    ] of competitors.entries()) {
      const asked = round === 0 ? warmUp : count;
      const first = fresh(asked);
      await prepare?.(first, asked);
      const job = { work: own, origins, keys, connections, count: asked, from: round * count, stored, fresh: first };
      const [before, machineBefore] = [processorTime(pid), machineTime()];
      const { seconds, ...times } = await generator.run(job);
      const [spent, machine] = [processorTime(pid), (machineTime() - machineBefore) / count];
      const [serving, others] = ['serving', 'others'].map((threads) => (spent[threads] - before[threads]) / count);
      if (round > 0) results[i].push({ perSecond: count / seconds, ...times, serving, others, machine });
    }
  }
  const figures = competitors.map(({ name }, i) => {
    const of = (figure) => summary(results[i].map((result) => result[figure]));
    const figures = ['perSecond', 'p50', 'p95', 'p99', 'bytes', 'serving', 'others', 'machine'];
    return [name, Object.fromEntries(figures.map((figure) => [figure, of(figure)]))];
  });
  const ratios = competitors.slice(1).map(({ name }, i) => {
    const each = results[0].map(({ perSecond }, round) => perSecond / results[i + 1][round].perSecond);
    return [name, summary(each)];
  });
  return { work, connections, count, figures: Object.fromEntries(figures), ratios: Object.fromEntries(ratios) };
}
