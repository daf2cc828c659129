import { readdirSync } from 'node:fs';

/** Says at the end of a run which tests it left out, so that a reader does not take it for a full run. */
export function teardown(): void {
  const suites = readdirSync('test/cluster', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .sort();
  console.log(`Not run, because they need servers or long faults: test/cluster/{${suites.join(',')}}`);
  console.log('To run them: npm run test:cluster');
}
