// Defines what one run measures. Counts are fixed, so that two runs do the same work.

/** The number of requests of each workload at 1, 16 and 64 connections. */
const counts = {
  'get revealed': { 1: 800, 16: 3000, 64: 4000 },
  'get masked': { 1: 800, 16: 3000, 64: 4000 },
  'list page': { 1: 200, 16: 600, 64: 800 },
  'search exact data': { 1: 500, 16: 2000, 64: 2500 },
  'search two terms': { 1: 500, 16: 2000, 64: 2500 },
  'search half of all': { 1: 200, 16: 600, 64: 800 },
  'create card': { 1: 200, 16: 1200, 64: 2000 },
  'create 200 bytes': { 1: 200, 16: 1200, 64: 2000 },
  patch: { 1: 200, 16: 1000, 64: 1500 },
  delete: { 1: 150, 16: 600, 64: 1000 },
};

export const works = Object.keys(counts);
export const connectionCounts = [1, 16, 64];

/** The workloads that are measured again at each size, with their numbers of connections. */
export const growthWorks = [
  ['get revealed', 64],
  ['search exact data', 64],
  ['search half of all', 16],
  ['list page', 64],
  ['create card', 64],
];

/** The workloads that are also measured against a bare vault and profiled, to find out what bounds them. */
export const boundedWorks = ['get revealed', 'list page', 'search exact data', 'create card'];

// `sizes` is the number of tokens in each vault; the main table is measured on the last one. `growthRounds` applies to
// all sizes but the last. `rebuilt` lists the sizes at which a rebuild is timed. `parts` is how often each part of a
// get runs, at most half of the last size. `warmUp` is the number of requests that each measured server gets first,
// until Node.js has compiled most of the code that a server runs.
const modes = {
  quick: {
    share: 0.18,
    rounds: 2,
    growthRounds: 2,
    sizes: [500, 2_000],
    rebuilt: [500],
    erasures: 50,
    parts: 900,
    warmUp: 600,
  },
  normal: {
    share: 0.45,
    rounds: 5,
    growthRounds: 5,
    sizes: [1_000, 10_000, 100_000],
    rebuilt: [10_000],
    erasures: 200,
    parts: 8_000,
    warmUp: 3_000,
  },
  full: {
    share: 1,
    rounds: 5,
    growthRounds: 5,
    sizes: [1_000, 10_000, 100_000, 1_000_000],
    rebuilt: [1_000, 10_000, 100_000, 1_000_000],
    erasures: 500,
    parts: 8_000,
    warmUp: 3_000,
  },
};

/** Returns the plan of a mode: `quick`, `normal` or `full`. */
export function planOf(mode) {
  const { share, ...plan } = modes[mode];
  return { ...plan, mode, countOf: (work, connections) => Math.ceil(counts[work][connections] * share) };
}
