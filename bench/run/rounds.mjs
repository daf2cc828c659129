// Measures works side by side: in each round every competitor once, in turn, so that what disturbs the machine meets all.

/** What the numbers of all rounds say: the median, and between what they lay. */
export function summary(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = sorted.length % 2 === 1 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
  return { median, low: sorted[0], high: sorted.at(-1) };
}

/** Numbers of tokens that nobody has used yet; one counter for the whole run. */
export function createFresh(first) {
  let next = first;
  return (count) => {
    next += count;
    return next - count;
  };
}

/**
 * Runs `work` against each competitor, `{ name, origins, keys, stored, prepare? }`, for so many rounds after one that is thrown away.
 * Answers by name `{ perSecond, p50, p95, p99 }`, each a summary, ms, and `ratio`: requests a second of the first to those of
 * the others, taken round by round.
 */
export async function sideBySide(generator, { work, connections, count, rounds, fresh, competitors }) {
  const results = competitors.map(() => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [i, { origins, keys, stored, prepare }] of competitors.entries()) {
      const first = fresh(count);
      await prepare?.(first, count);
      const job = { work, origins, keys, connections, count, from: round * count, stored, fresh: first };
      const { seconds, ...times } = await generator.run(job);
      if (round > 0) results[i].push({ perSecond: count / seconds, ...times });
    }
  }
  const figures = competitors.map(({ name }, i) => {
    const of = (figure) => summary(results[i].map((result) => result[figure]));
    return [name, { perSecond: of('perSecond'), p50: of('p50'), p95: of('p95'), p99: of('p99'), bytes: of('bytes') }];
  });
  const ratios = competitors.slice(1).map(({ name }, i) => {
    const each = results[0].map(({ perSecond }, round) => perSecond / results[i + 1][round].perSecond);
    return [name, summary(each)];
  });
  return { work, connections, count, figures: Object.fromEntries(figures), ratios: Object.fromEntries(ratios) };
}
