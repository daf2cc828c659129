import { readdirSync } from 'node:fs';
import type { TestProject } from 'vitest/node';

/**
 * At the end of the run, prints which suites were not part of it. Vitest calls this for every project, and the root
 * project prints.
 */
export function setup(project: TestProject): (() => void) | undefined {
  return project.isRootProject() ? printWhatDidNotRun : undefined;
}

function printWhatDidNotRun(): void {
  const suites = readdirSync('test/cluster', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .sort();
  console.log(`Not run, because they need servers or long faults: test/cluster/{${suites.join(',')}}`);
  console.log('To run them: npm run test:cluster');
}
