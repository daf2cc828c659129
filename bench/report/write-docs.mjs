// Writes sections of the committed results to pages in docs, between markers such as `<!-- bench normal works -->` and
// `<!-- end -->`. No figure between the markers is written by hand.
//
//   node bench/report/write-docs.mjs            writes the sections
//   node bench/report/write-docs.mjs --check    fails if the pages do not match the results
import { readFileSync, writeFileSync } from 'node:fs';
import { sectionsOf } from './tables.mjs';

const check = process.argv.includes('--check');
const marked = /(<!-- bench (\S+) (\S+) -->\n)[\s\S]*?(<!-- end -->)/g;

function partOf(name, part) {
  const run = JSON.parse(readFileSync(new URL(`../results/${name}.json`, import.meta.url), 'utf8'));
  const section = sectionsOf(run)[part];
  if (section === undefined) throw new Error(`the results of ${name} have no part ${part}`);
  return section();
}

let stale = false;
for (const page of ['performance.md', 'scale.md', 'how-to/operate.md']) {
  const file = new URL(`../../docs/${page}`, import.meta.url);
  const before = readFileSync(file, 'utf8');
  const after = before.replace(marked, (_all, mark, name, part, end) => `${mark}\n${partOf(name, part)}\n\n${end}`);
  if (after === before) continue;
  stale = true;
  if (check) process.stderr.write(`docs/${page} is not what bench/results say: node bench/report/write-docs.mjs\n`);
  else writeFileSync(file, after);
}
process.exitCode = check && stale ? 1 : 0;
