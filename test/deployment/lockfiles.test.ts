import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Threat: a registry or a proxy serves other files, and `npm ci` installs them. */
test.each(['package-lock.json', 'clients/typescript/package-lock.json'])(
  'every package in %s has a checksum, also those for other platforms',
  (file) => {
    const { packages } = JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')) as {
      readonly packages: Readonly<Record<string, { readonly integrity?: string }>>;
    };
    const installed = Object.entries(packages).filter(([path]) => path !== '');
    expect(installed.length).toBeGreaterThan(30);
    expect(installed.filter(([, { integrity = '' }]) => !/^sha512-/.test(integrity)).map(([path]) => path)).toEqual([]);
  },
);
