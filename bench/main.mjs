// The benchmark. One run measures the vault, and also the physical limits of this machine for the same work. `--help`
// lists the options.
//
// The results are written to bench/results/NAME.json. The tables and charts that bench/report generates from them are
// written next to that file.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { works } from './plan.mjs';
import { worksTable } from './report/tables.mjs';
import { writeReport } from './report/write-report.mjs';
import { measureCluster } from './run/cluster.mjs';
import { measureEmbedded, measureOne } from './run/embedded.mjs';
import { measureFairness } from './run/fairness.mjs';
import { measureRebuild } from './run/rebuild.mjs';
import { measureWebhooks } from './run/webhooks.mjs';

const usage = `Measures the vault beside the limit of this machine, in one run.

  npm run bench                          the embedded profile, up to 100,000 tokens, about a quarter of an hour
  npm run bench -- --quick               two minutes, to see that nothing broke
  npm run bench -- --full                also with a million tokens; more than an hour
  npm run bench -- --only 'create card'  one workload at 64 connections; prints its row and writes nothing
  npm run bench -- --cluster             the cluster profile, on the servers of \`npm run servers -- up\`
  npm run bench -- --rebuild             what a rebuild of 100,000 tokens costs callers that read in the meantime
  npm run bench -- --fairness            what a tenant at its worst costs another tenant
  npm run bench -- --webhooks            what a webhook costs creates

--quick and --full also apply to --only, --cluster, --rebuild, --fairness and --webhooks.
Workloads: ${works.join('; ')}

The results are written to bench/results. Afterwards, write them into the docs: node bench/report/write-docs.mjs
`;

function optionsOf(args) {
  const flags = {
    quick: { type: 'boolean' },
    full: { type: 'boolean' },
    only: { type: 'string' },
    cluster: { type: 'boolean' },
    rebuild: { type: 'boolean' },
    fairness: { type: 'boolean' },
    webhooks: { type: 'boolean' },
    help: { type: 'boolean' },
  };
  try {
    const { values } = parseArgs({ args, options: flags });
    const { quick, full, only, cluster, rebuild, fairness, webhooks } = values;
    if (quick && full) throw new Error('--quick and --full exclude each other.');
    if ([only, cluster, rebuild, fairness, webhooks].filter(Boolean).length > 1) {
      throw new Error('--only, --cluster, --rebuild, --fairness and --webhooks exclude each other.');
    }
    if (only !== undefined && !works.includes(only)) throw new Error(`There is no workload '${only}'.`);
    return values;
  } catch (error) {
    process.stderr.write(`${error.message}\n\n${usage}`);
    process.exit(2);
  }
}

const { quick, full, only, cluster, rebuild, fairness, webhooks, help } = optionsOf(process.argv.slice(2));
if (help) {
  process.stdout.write(usage);
  process.exit(0);
}
const mode = quick ? 'quick' : full ? 'full' : 'normal';
const measures = {
  cluster: measureCluster,
  rebuild: measureRebuild,
  fairness: measureFairness,
  webhooks: measureWebhooks,
};
const wanted = { cluster, rebuild, fairness, webhooks };
const chosen = Object.keys(measures).find((name) => wanted[name]) ?? null;
const measure = chosen === null ? measureEmbedded : measures[chosen];
const name = chosen === null ? mode : `${chosen}-${mode}`;
const began = performance.now();
const directory = mkdtempSync(join(tmpdir(), 'strongroom-bench-'));
const say = (text) => process.stderr.write(`${Math.round((performance.now() - began) / 1000)} s  ${text}\n`);
try {
  if (only === undefined) await measureAndReport();
  else process.stdout.write(`${worksTable((await measureOne({ directory, mode, say, work: only })).table)}\n`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function measureAndReport() {
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
}
