// Defines what one run measures. The number of requests is fixed, so that two runs do the same work.

/** How many requests each workload sends per round, at 1, 16 and 64 connections. */
const counts = {
  'get revealed': { 1: 1_000, 16: 4_000, 64: 6_000 },
  'get revealed, 500 ids': { 1: 1_000, 16: 4_000, 64: 6_000 },
  'get masked': { 1: 1_000, 16: 4_000, 64: 6_000 },
  'search exact data': { 1: 600, 16: 2_500, 64: 4_000 },
  'search two terms': { 1: 500, 16: 1_500, 64: 2_500 },
  'list page': { 1: 200, 16: 600, 64: 1_000 },
  'search half of all': { 1: 200, 16: 600, 64: 1_000 },
  'create card': { 1: 200, 16: 1_000, 64: 2_000 },
  'create 200 bytes': { 1: 200, 16: 1_000, 64: 2_000 },
  patch: { 1: 150, 16: 800, 64: 1_500 },
  delete: { 1: 150, 16: 800, 64: 1_500 },
};

export const works = Object.keys(counts);
export const connectionCounts = [1, 16, 64];

/** The workloads that are measured with every vault size, at 64 connections. */
export const growthWorks = ['get revealed', 'get masked', 'search exact data', 'list page', 'create card', 'patch'];

/** The workloads that are also profiled, to show where the time goes. */
export const profiledWorks = ['get revealed', 'search exact data', 'list page', 'create card'];

// `sizes` lists how many tokens each vault contains, and `main` is the size for the main table. `growthRounds` is the
// number of rounds for the other sizes. `rebuilt` lists the sizes for which a rebuild is timed. `warmUpSeconds` is how
// long each server is warmed up before a workload is measured.
const modes = {
  quick: {
    share: 0.2,
    rounds: 2,
    growthRounds: 2,
    warmUpSeconds: 0.5,
    sizes: [500, 2_000],
    main: 2_000,
    rebuilt: [500],
    erasures: 50,
  },
  normal: {
    share: 1,
    rounds: 5,
    growthRounds: 3,
    warmUpSeconds: 3,
    sizes: [1_000, 10_000, 100_000],
    main: 10_000,
    rebuilt: [10_000],
    erasures: 200,
  },
  full: {
    share: 1,
    rounds: 5,
    growthRounds: 3,
    warmUpSeconds: 3,
    sizes: [1_000, 10_000, 100_000, 1_000_000],
    main: 10_000,
    rebuilt: [1_000, 10_000, 100_000, 1_000_000],
    erasures: 500,
  },
};

/** Returns the plan for this mode, which is `quick`, `normal` or `full`. */
export function planOf(mode) {
  const { share, ...plan } = modes[mode];
  return { ...plan, mode, countOf: (work, connections) => Math.ceil(counts[work][connections] * share) };
}
