import { type Finding, ok, problem } from '../../queries/findings/finding.js';
import { projectionVersions } from '../../views/versions.js';
import { productVersion } from '../product-version.js';

/**
 * The version of the program that has the stores open, and the stored version of each projection. The version of a
 * projection is null if the projection is not stored.
 */
export type Running = {
  readonly version: string;
  readonly projections: readonly { readonly name: string; readonly version: number | null }[];
};

/**
 * Compares this program's version with the version of the program that has the stores open, and with the versions of
 * the stored projections. Does not check the schemas of the stores, because they were checked when the stores were
 * opened. `running` is undefined if the service is too old to report its version.
 */
export function versions(running: Running | undefined): Finding {
  const own = productVersion();
  if (running?.version !== own) {
    const other = running === undefined ? 'an older build' : `version ${running.version}`;
    return problem(
      'versions',
      `the running service is ${other}, and this program is version ${own}`,
      'Restart the service with this version, or use the program of its version.',
    );
  }
  const { projections } = running;
  const stored = projections.flatMap((one) => (one.version === null ? [] : [{ ...one, version: one.version }]));
  const present: Readonly<Record<string, number>> = projectionVersions;
  const old = stored.filter(({ name, version: made }) => made < (present[name] ?? 0));
  const text = (of: typeof stored) => of.map(({ name, version: made }) => `${name} ${made}`).join(', ');
  return old.length === 0
    ? ok(
        'versions',
        `Strongroom ${own}; the stores have its ` +
          `schemas${stored.length === 0 ? '' : `; versions of projections: ${text(stored)}`}`,
      )
    : problem(
        'versions',
        `built by an older version: ${text(old)}`,
        'Start the service, or a worker: it rebuilds these projections.',
      );
}
