// Generates the tables and charts from a results file. No part of them is written by hand.
import { readFileSync, writeFileSync } from 'node:fs';
import { barChart, lineChart } from './charts.mjs';
import { reportOf } from './tables.mjs';

const results = new URL('../results/', import.meta.url);

/** Writes `NAME.md` and `NAME-*.svg` next to `NAME.json`. Returns the text of the tables. */
export function writeReport(name) {
  const run = JSON.parse(readFileSync(new URL(`${name}.json`, results), 'utf8'));
  const text = reportOf(run);
  writeFileSync(new URL(`${name}.md`, results), text);
  if (run.table === undefined) return text;
  const most = Math.max(...run.table.map(({ connections }) => connections));
  const bars = run.table
    .filter(({ connections }) => connections === most)
    .map(({ work, ratios }) => ({ label: work, ...Object.values(ratios)[0] }));
  const title = `requests a second as a part of the limit, ${most} connections`;
  writeFileSync(new URL(`${name}-ratios.svg`, results), barChart({ title, bars }));
  if (run.growth !== undefined) {
    const works = run.growth[0].rows.map(({ work }) => work);
    const lines = works.map((work) => ({
      label: work,
      points: run.growth.map(({ size, rows }) => [
        size,
        rows.find((row) => row.work === work).figures.vault.p50.median,
      ]),
    }));
    writeFileSync(
      new URL(`${name}-growth.svg`, results),
      lineChart({ title: 'median latency, ms, by the number of tokens', lines }),
    );
  }
  return text;
}
