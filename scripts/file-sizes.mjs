// Prints how long the source files are: a report, not a check. Past 200 lines look for a second concept.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const sizes = readdirSync('src', { recursive: true })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file: join('src', file), lines: readFileSync(join('src', file), 'utf8').split('\n').length - 1 }))
  .sort((a, b) => a.lines - b.lines);
const median = sizes[Math.floor(sizes.length / 2)]?.lines ?? 0;
console.log(`${sizes.length} source files, median ${median} lines`);
for (const { file, lines } of sizes.filter(({ lines }) => lines > 200))
  console.log(`over 200 lines: ${file} (${lines})`);
