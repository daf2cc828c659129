import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * How many rounds of requests are profiled, with 64 connections. Before that, the same number of requests is sent as a
 * warm-up, so that Node.js has compiled the code when the profiled requests arrive.
 */
const rounds = 3;

const ownCode = 'our code and its libraries';
const garbage = 'garbage collection';

/**
 * The kinds of frames in a profile. The first pattern that matches the module of a frame determines its kind. Any other
 * frame belongs to our own code or to a library that our code calls.
 */
const kinds = [
  ['HTTP: Node and Fastify', /^node:(_http|net$|events$|internal\/(streams|stream_base|http))/],
  [
    'HTTP: Node and Fastify',
    /\/node_modules\/(fastify|fastify-type-provider-zod|find-my-way|reusify|avvio|@fastify)\//,
  ],
  ['cryptography', /^node:(internal\/crypto\/|crypto$)/],
  ['request log and metrics', /\/node_modules\/(@?pino|sonic-boom|prom-client)/],
  ['request log and metrics', /\/dist\/(http\/logging|adapters\/prometheus)\//],
  ['SQLite and its adapter', /\/dist\/adapters\/sqlite\/|\/node_modules\/better-sqlite3\//],
  ['handing over to the thread that writes', /^node:internal\/(worker|per_context\/messageport)/],
  ['the rest of Node', /^node:/],
];
/**
 * A frame whose module matches this pattern is counted as part of its caller. Native frames match too, because their
 * module is empty.
 */
const ofCallers = /^$|^node:(fs$|buffer$|internal\/(buffer|validators|util))/;
const kindNames = [...new Set([...kinds.map(([kind]) => kind), garbage, ownCode])];

/**
 * Returns how the serving thread spends its time, by workload, as shares that add up to 1. The shares come from a
 * profile of the running vault with 64 connections. They cover only the time when the thread was busy.
 */
export async function profileOf({ vault, generator, fresh, countOf, directory, works }) {
  const shares = {};
  for (const work of works) {
    const profiles = join(directory, `profile-${work.replaceAll(' ', '-')}`);
    const nodeFlags = ['--cpu-prof', `--cpu-prof-dir=${profiles}`];
    const service = await vault.start({ nodeFlags });
    const { keys, size: stored } = vault;
    const count = rounds * countOf(work, 64);
    const run = () =>
      generator.run({
        work,
        origins: [service.origin],
        keys,
        connections: 64,
        count,
        from: 0,
        stored,
        fresh: fresh(count),
      });
    await run();
    const from = monotonicMicros();
    await run();
    const until = monotonicMicros();
    await service.stop();
    shares[work] = sharesIn(profiles, from, until);
  }
  return shares;
}

/** Returns the current time in µs, on the clock that V8 uses in a profile. */
function monotonicMicros() {
  return Number(process.hrtime.bigint() / 1000n);
}

/**
 * Returns the shares in a profile. The serving thread is the first thread of a process, so its profile is the file with
 * thread 0 in its name. Returns null if the times in the profile cannot be compared with our clock.
 */
function sharesIn(directory, from, until) {
  const file = readdirSync(directory).find((name) => /\.0\.\d+\.cpuprofile$/.test(name));
  const { nodes, samples, timeDeltas, startTime } = JSON.parse(readFileSync(join(directory, file), 'utf8'));
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const kindOf = (id) => {
    const { functionName, url, lineNumber } = frames.get(id);
    if (functionName === '(idle)') return null;
    if (functionName === '(garbage collector)') return garbage;
    const caller = callers.get(id);
    const isRoot = caller === undefined || frames.get(caller).functionName === '(root)';
    const module = moduleOf(url, lineNumber);
    if (ofCallers.test(module)) return isRoot ? 'the rest of Node' : kindOf(caller);
    return kinds.find(([, pattern]) => pattern.test(module))?.[0] ?? ownCode;
  };
  const times = Object.fromEntries(kindNames.map((kind) => [kind, 0]));
  let now = startTime;
  for (const [i, id] of samples.entries()) {
    now += timeDeltas[i];
    const kind = now < from || now > until ? null : kindOf(id);
    if (kind !== null) times[kind] += timeDeltas[i];
  }
  const busy = Object.values(times).reduce((sum, time) => sum + time, 0);
  return Object.fromEntries(Object.entries(times).map(([kind, time]) => [kind, busy === 0 ? null : time / busy]));
}

/** The modules in each bundle that has appeared in a profile, as `[firstLine, module]`, with lines counted from 0. */
const bundles = new Map();

/**
 * Returns the module that contains a line of a file. A file in `dist/bin` is a bundle: a comment with the path of each
 * module stands before its code. In any other file, the module is the URL.
 */
function moduleOf(url, lineNumber) {
  if (!url.includes('/dist/bin/')) return url;
  if (!bundles.has(url)) {
    const lines = readFileSync(fileURLToPath(url), 'utf8').split('\n');
    bundles.set(
      url,
      lines.flatMap((text, line) => (text.startsWith('// dist/') ? [[line, text.replace('// ', '/')]] : [])),
    );
  }
  return bundles.get(url).findLast(([line]) => line <= lineNumber)?.[1] ?? url;
}
