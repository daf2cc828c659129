import { Session } from 'node:inspector/promises';
import { json } from 'node:stream/consumers';
import { createExpressions } from '#src/domain/expressions/expressions.js';

/**
 * Reads a JSON array of sources from standard input, and prints a JSON array with the number of steps that parsing and
 * evaluating each of them takes. A step is one execution of a block of code in the parser or in liquidjs. V8 counts
 * blocks only in functions that were compiled after the counting began, so this program runs in its own process.
 */
const counted = /\/dist\/domain\/expressions\/|\/node_modules\/liquidjs\//;
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

const expressions = createExpressions({ cacheEntriesMax: 1 });
const counts = [];
for (const source of await json(process.stdin)) {
  await session.post('Profiler.takePreciseCoverage');
  expressions.parse(source, { variables: ['data', 'metadata'], aliases: true });
  expressions.parseMask(source);
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const functions = result.filter(({ url }) => counted.test(url)).flatMap((script) => script.functions);
  counts.push(functions.flatMap(({ ranges }) => ranges).reduce((sum, { count }) => sum + count, 0));
}
process.stdout.write(JSON.stringify(counts));
