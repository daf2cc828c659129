// The benchmark: measures the vault beside its physical limit on this machine, in one run.
//
//   npm run bench                 embedded profile, up to 100,000 tokens, about ten minutes
//   npm run bench -- --quick      two minutes, to detect breakage
//   npm run bench -- --full       a million tokens as well; an hour
//   npm run bench -- --cluster    the cluster profile, on the servers of `npm run servers -- up`
//   npm run bench -- --rebuild    what a rebuild of 100,000 tokens costs concurrent readers
//   npm run bench -- --fairness   what a hostile tenant costs another tenant; two minutes with --quick
//
// Writes bench/results/MODE.json, and generates tables and charts beside it (bench/report).
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeReport } from './report/write-report.mjs';
import { measureCluster } from './run/cluster.mjs';
import { measureEmbedded } from './run/embedded.mjs';
import { measureFairness } from './run/fairness.mjs';
import { measureRebuild } from './run/rebuild.mjs';

function optionsOf(args) {
  const flags = {
    quick: { type: 'boolean' },
    full: { type: 'boolean' },
    cluster: { type: 'boolean' },
    rebuild: { type: 'boolean' },
    fairness: { type: 'boolean' },
    help: { type: 'boolean' },
  };
  try {
    return parseArgs({ args, options: flags }).values;
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    return { help: true, wrong: true };
  }
}

const { quick, full, cluster, rebuild, fairness, help, wrong } = optionsOf(process.argv.slice(2));
const unclear = (quick && full) || [cluster, rebuild, fairness].filter(Boolean).length > 1;
if (help || unclear) {
  process.stderr.write('usage: npm run bench -- [--quick | --full] [--cluster | --rebuild | --fairness]\n');
  process.exit(wrong || unclear ? 2 : 0);
}
const mode = quick ? 'quick' : full ? 'full' : 'normal';
const chosen = cluster ? 'cluster' : rebuild ? 'rebuild' : fairness ? 'fairness' : null;
const measures = { cluster: measureCluster, rebuild: measureRebuild, fairness: measureFairness };
const measure = chosen === null ? measureEmbedded : measures[chosen];
const name = chosen === null ? mode : `${chosen}-${mode}`;
const began = performance.now();
const directory = mkdtempSync(join(tmpdir(), 'strongroom-bench-'));
const say = (text) => process.stderr.write(`${Math.round((performance.now() - began) / 1000)} s  ${text}\n`);
try {
  const figures = await measure({ directory, mode, say });
  const machine = {
    processors: cpus().length,
    model: cpus()[0]?.model ?? 'unknown',
    memoryBytes: totalmem(),
    node: process.version,
    system: `${process.platform} ${process.arch}`,
  };
  const minutes = (performance.now() - began) / 60_000;
  const results = new URL('./results/', import.meta.url);
  mkdirSync(results, { recursive: true });
  const run = { name, mode, day: new Date().toISOString().slice(0, 10), minutes, machine, ...figures };
  writeFileSync(new URL(`${name}.json`, results), `${JSON.stringify(run, null, 2)}\n`);
  process.stdout.write(writeReport(name));
  say(`bench/results/${name}.json, ${name}.md and charts are written`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
