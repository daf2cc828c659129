import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '#src/compose/config/config.js';

const text = (file: string): string => readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), 'utf8');

const delaySecondsMax = 300;
/** After the delay, requests finish within ten seconds, and the stores close within five. */
const stopSecondsMax = delaySecondsMax + 15;

test('the longest shutdown delay is the one that the stop times allow for', () => {
  const isValid = (seconds: number) =>
    loadConfig({ env: { STRONGROOM_SHUTDOWN_DELAY_SECONDS: String(seconds) }, flags: {} }).ok;
  expect([isValid(delaySecondsMax), isValid(delaySecondsMax + 1)]).toEqual([true, false]);
});

type Compose = { readonly services: Readonly<Record<string, { readonly stop_grace_period?: string }>> };
const { services }: Compose = parse(text('docker-compose.yml'), { merge: true });

test.each([
  ['the systemd unit', () => /^TimeoutStopSec=(\d+)$/m.exec(text('scripts/strongroom.service'))],
  ['the page’s docker run', () => /^docker run .*--stop-timeout (\d+) /m.exec(text('docs/how-to/run-it.md'))],
  ...['api-1', 'api-2', 'worker-1', 'worker-2'].map(
    (name) => [`Compose’s ${name}`, () => /^(\d+)s$/.exec(services[name]?.stop_grace_period ?? '')] as const,
  ),
] as const)('%s lets a process finish its requests, whatever its shutdown delay', (_place, findSeconds) => {
  expect(Number(findSeconds()?.[1])).toBeGreaterThan(stopSecondsMax);
});
