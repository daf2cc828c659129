import { machineTime, processorTime, threads, timeBetween } from './processor-time.mjs';

// Measures workloads side by side. Each round runs every competitor once, in turn, so disturbances on the machine
// affect all of them.

/** Summarizes the numbers from all rounds: the median and the range. */
export function summary(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = sorted.length % 2 === 1 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
  return { median, low: sorted[0], high: sorted.at(-1) };
}

/**
 * Any competitor's round lasts about this long or longer. Otherwise, a limit would be measured for a few hundredths of
 * a second, in which one pause of the machine determines its rate.
 */
const roundSecondsMin = 0.5;

/** Creates a counter of unused token numbers. One counter serves the whole run. */
export function createFresh(first) {
  let next = first;
  return (count) => {
    next += count;
    return next - count;
  };
}

/**
 * Runs `work` against each competitor, `{ name, origins, keys, stored, prepare?, counts?, pid? }`, for this many rounds
 * of `count` requests, or more if the competitor would finish them in less than `roundSecondsMin`. Before the first
 * round, each competitor gets requests for `warmUpSeconds`, so that Node.js has compiled the code that they run.
 * Returns `{ perSecond, p50, p95, p99, bytes, generator }` by name, each a summary with times in ms, and `ratios`: the
 * first competitor's requests per second divided by those of the others, round by round. With `pid`, also returns the
 * processor time per request, µs, by the names in `threads`; `machine`, the processor time of all processes, including
 * load and stores; and `timeRatios`, the processor time of all threads of the first competitor divided by that of the
 * others, round by round. At the end of a round, `counts` returns further numbers by name.
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
    // At least once, because the rate decides the number of requests of a round.
    do {
      last = await runOnce(run);
      warm += last.seconds;
    } while (warm < warmUpSeconds);
    run.count = Math.max(planned, Math.ceil(last.result.perSecond * roundSecondsMin));
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const run of runs) run.results.push((await runOnce(run)).result);
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
  const timeRatios = runs.slice(1).map(({ name, results }) => {
    const each = runs[0].results.map((result, round) => timeOf(result) / timeOf(results[round]));
    return [name, summary(each)];
  });
  return {
    work,
    connections,
    count: planned,
    figures: Object.fromEntries(figures),
    ratios: Object.fromEntries(ratios),
    timeRatios: Object.fromEntries(timeRatios),
  };
}
