// node scripts/profile-columns.mjs SHORT.json LONG.json CLUSTER.json
//
// Prints the results of the service's suites in the embedded and the cluster profile, one line per folder. It reads the
// JSON reports of `npm test`, `npm run test:long` and `npm run test:cluster`.
import { readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';

/** @typedef {{ passed: number, failed: number, skipped: number }} Count */

/** @param {string[]} files @returns {Map<string, Count>} */
function countsOf(...files) {
  /** @type {Map<string, Count>} */
  const counts = new Map();
  for (const { name, assertionResults } of files.flatMap(
    (file) => JSON.parse(readFileSync(file, 'utf8')).testResults,
  )) {
    const folder = dirname(relative('.', name));
    const count = counts.get(folder) ?? { passed: 0, failed: 0, skipped: 0 };
    counts.set(folder, count);
    for (const { status } of assertionResults) {
      if (status === 'passed' || status === 'failed') count[/** @type {'passed' | 'failed'} */ (status)] += 1;
      else count.skipped += 1;
    }
  }
  return counts;
}

/** @param {Count | undefined} count */
function cell(count) {
  if (count === undefined) return 'not run';
  const { passed, failed, skipped } = count;
  return `${passed}${failed === 0 ? '' : `, ${failed} failed`}${skipped === 0 ? '' : `, ${skipped} skipped`}`;
}

const [short, long, clusterFile] = process.argv.slice(2);
if (short === undefined || long === undefined || clusterFile === undefined) {
  throw new Error('usage: profile-columns.mjs SHORT LONG CLUSTER');
}
const embedded = countsOf(short, long);
const cluster = countsOf(clusterFile);
const folders = [...cluster.keys()].filter((folder) => !folder.startsWith('test/cluster')).sort();
const line = (/** @type {readonly string[]} */ [name = '', ...cells]) =>
  console.log(name.padEnd(48) + cells.map((text) => text.padEnd(24)).join(''));
line(['passed tests', 'embedded', 'cluster']);
for (const folder of folders) line([folder, cell(embedded.get(folder)), cell(cluster.get(folder))]);
