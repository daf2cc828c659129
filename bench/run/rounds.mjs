import { machineTime, processorTime, threads, timeBetween } from './processor-time.mjs';

// Measures workloads side by side. In each round, all competitors run one after the other, so a disturbance on the
// machine affects all of them.

/** Summarizes the values from all rounds as their median and range. */
export function summary(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = sorted.length % 2 === 1 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
  return { median, low: sorted[0], high: sorted.at(-1) };
}

/**
 * Returns the ratio of two totals over the rounds, and the standard error of this ratio. The formula is the one for the
 * ratio of two means of paired samples. One round says little on a noisy machine, but the totals of many rounds do.
 */
function ratioOfTotals(over, under) {
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const ratio = sum(over) / sum(under);
  const squares = sum(over.map((value, round) => (value - ratio * under[round]) ** 2));
  const error = (Math.sqrt(squares / (over.length - 1)) * Math.sqrt(over.length)) / sum(under);
  return { ratio, error };
}

/**
 * The approximate minimum duration of a competitor's round. Without a minimum, a limit would be measured for only a few
 * hundredths of a second, and a single pause of the machine would determine its rate.
 */
const roundSecondsMin = 0.5;

/** Creates a counter for unused token numbers. One counter serves a whole run. */
export function createFresh(first) {
  let next = first;
  return (count) => {
    next += count;
    return next - count;
  };
}

/**
 * Runs `work` against each competitor, `{ name, origins, keys, stored, prepare?, counts?, pid? }`. There are `rounds`
 * rounds of `count` requests. A round has more requests if the competitor would finish `count` requests in less than
 * `roundSecondsMin`. Before the first round, each competitor gets requests for `warmUpSeconds`, so that Node.js has
 * compiled the code that handles them.
 *
 * Returns `figures` by competitor, `ratios` and `timeTotals`:
 * - `figures` are `{ perSecond, p50, p95, p99, bytes, generator }`, each a summary over the rounds, with times in ms.
 *   They also contain the processor time per request, in µs. `machine` is the time of all processes on the machine,
 *   including the load generator and the stores. If the competitor has a `pid`, the times of its threads are included
 *   under the names in `threads`. If a competitor has a function `counts`, the numbers that it returns at the end of
 *   each round are figures too.
 * - `ratios` are the first competitor's requests per second divided by those of each other competitor, round by round.
 * - `timeTotals` are the first competitor's total processor time, over all threads and rounds, divided by that of each
 *   other competitor, as `{ ratio, error }` with the standard error.
 */
export async function sideBySide(
  generator,
  { work, connections, count: planned, rounds, warmUpSeconds, fresh, competitors },
) {
  const runs = competitors.map((competitor) => ({ ...competitor, count: planned, from: 0, results: [] }));
  async function runOnce(run) {
    const { origins, keys, stored, prepare, counts, pid, count, from } = run;
    const first = fresh(count);
    await prepare?.(first, count);
    const job = { work, origins, keys, connections, count, from, stored, fresh: first };
    run.from += count;
    const [before, machineBefore] = [processorTime(pid), machineTime()];
    const { seconds, ...figures } = await generator.run(job);
    const spent = timeBetween(before, processorTime(pid), pid);
    for (const name of threads) spent[name] /= count;
    const machine = (machineTime() - machineBefore) / count;
    const counted = await counts?.();
    return { seconds, result: { perSecond: count / seconds, ...figures, ...spent, ...counted, machine } };
  }
  for (const run of runs) {
    let last;
    let warm = 0;
    // Runs at least once, because the measured rate determines the number of requests in a round.
    do {
      last = await runOnce(run);
      warm += last.seconds;
    } while (warm < warmUpSeconds);
    run.count = Math.max(planned, Math.ceil(last.result.perSecond * roundSecondsMin));
  }
  for (let round = 0; round < rounds; round += 1) {
    // Alternates the order, so that no competitor always runs right after the same one.
    for (const run of round % 2 === 0 ? runs : runs.toReversed()) run.results.push((await runOnce(run)).result);
  }
  const figures = runs.map(({ name, results }) => {
    const of = (figure) => summary(results.map((result) => result[figure]));
    return [name, Object.fromEntries(Object.keys(results[0]).map((figure) => [figure, of(figure)]))];
  });
  const ratios = runs.slice(1).map(({ name, results }) => {
    const each = runs[0].results.map(({ perSecond }, round) => perSecond / results[round].perSecond);
    return [name, summary(each)];
  });
  const timeOf = (result) => threads.reduce((sum, name) => sum + result[name], 0);
  const timeTotals = runs
    .slice(1)
    .map(({ name, results }) => [name, ratioOfTotals(runs[0].results.map(timeOf), results.map(timeOf))]);
  return {
    work,
    connections,
    count: planned,
    figures: Object.fromEntries(figures),
    ratios: Object.fromEntries(ratios),
    timeTotals: Object.fromEntries(timeTotals),
  };
}
