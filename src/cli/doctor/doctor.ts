import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Config } from '../../compose/config/config.js';
import { checkAccessFiles } from '../../compose/embedded/check-access-files.js';
import { counted } from '../../domain/text.js';
import { ForgedLog } from '../../ports/event-log.js';
import { StoreProblem } from '../../ports/store-problem.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { type Finding, ok, problem, problemFound } from '../../queries/findings/finding.js';
import { projectionVersions } from '../../views/versions.js';
import { Failure } from '../failure.js';
import { showPhases } from '../files/progress.js';
import { forgedRowsAdvice, forgedText } from '../forged-row-text.js';
import { configOf, storeSettings, withSettings } from '../options.js';
import { print } from '../print.js';
import { productVersion } from '../product-version.js';
import { type RunOperation, runOperations } from '../run-command.js';
import { storeUnavailableText } from '../store-unavailable-text.js';
import { table } from '../table.js';
import { checkAllRows } from './check-all-rows.js';
import { lookAtPlaces } from './places.js';
import { rightsInStores } from './rights.js';

type Options = { readonly fix?: boolean; readonly json?: boolean };

/** Adds the command `strongroom doctor`. */
export function addDoctor(program: Command): void {
  withSettings(program.command('doctor'), storeSettings)
    .description('check settings, files, stores, deadlines and keys, and say how to fix each problem')
    .option('--fix', 'fix what is safe to fix: file modes, overdue deadlines and orphan keys')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
It works whether or not the service is running. Exit code 3 means that it found
a problem.

Example:
  strongroom doctor --data /var/lib/strongroom \\
    --root-key-file /etc/strongroom/root.key`,
    )
    .action(async ({ fix = false, json = false, ...options }: Options) => {
      const findings = await examine(options, fix);
      const problems = findings.filter(({ state }) => state === 'problem').length;
      print({ findings: [...findings], problems }, { json }, () => tableOf(findings));
      if (problems > 0) throw new Failure(`found ${counted(problems, 'problem')}.`, 3);
    });
}

async function examine(options: object, fix: boolean): Promise<readonly Finding[]> {
  let config: Config;
  try {
    config = configOf({ ...options });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [problem('configuration', error.message, 'Correct these settings.')];
  }
  const found = [ok('configuration', 'every setting is valid'), ...(await lookAtPlaces(config, fix))];
  const opened = (await stores(config, fix)).map((finding) => toldOnce(found, finding));
  const isSound = !found.some(({ check, state }) => check === 'data directory' && state === 'problem');
  const files = isSound ? accessFiles(config) : [];
  return [...found, ...withoutRepeated(opened, files), ...(await rightsInStores(config))];
}

/** Adds findings about files to other findings, which may already name the same damaged file. */
function withoutRepeated(findings: readonly Finding[], more: readonly Finding[]): readonly Finding[] {
  return [...findings, ...more.filter(({ says }) => !findings.some((earlier) => earlier.says === says))];
}

/**
 * Checks the files of the access log. Runs in this process even if the service is running, because the check of a large
 * file takes seconds, and would block the service.
 */
function accessFiles(config: Config): readonly Finding[] {
  const display = showPhases('checking the access log');
  try {
    const checked = checkAccessFiles(config, (fileName) => display.next(`checking ${fileName}`));
    if (checked === null) return [];
    if (checked.damaged.length > 0) return checked.damaged.map(problemFound);
    return [ok('access log files', `${counted(checked.files, 'file')} checked: no page and no index is damaged`)];
  } catch (error) {
    if (error instanceof StoreUnavailable) return [problem('access log files', storeUnavailableText(error))];
    throw error;
  } finally {
    display.end();
  }
}

/**
 * Refers to an earlier finding if a finding repeats it: without the root key or the data directory, the stores cannot
 * be opened.
 */
function toldOnce(found: readonly Finding[], finding: Finding): Finding {
  const earlier = found.find(({ state, says }) => state === 'problem' && says === finding.says);
  if (earlier === undefined) return finding;
  return problem(finding.check, 'the stores could not be opened', `See the finding about the ${earlier.check}.`);
}

/**
 * Reports the databases that were removed while the service uses them. Call this function only if the stores are open.
 * A removed file still exists for the service, which therefore does not notice that it is gone.
 */
function removedFiles({ settings }: Config): readonly Finding[] {
  if (settings.profile !== 'embedded') return [];
  return ['vault.db', 'keys.db']
    .filter((file) => !existsSync(join(settings.data, file)))
    .map((file) =>
      problem(
        'stores',
        `${file} was removed while the service uses it, and is lost as soon as the service stops`,
        'Do not stop the service yet. Write the tokens to a file with `strongroom tokens export`. Then stop the ' +
          'service, restore a backup to an empty directory, and import the file.',
      ),
    );
}

/**
 * Returns the findings about the stores. If the stores cannot be opened, returns the error as a finding. If they cannot
 * be opened because the log is forged, also returns the other findings, and fixes nothing.
 */
async function stores(config: Config, fix: boolean): Promise<readonly Finding[]> {
  try {
    return await lookInto(config, { fix, looksOnly: false });
  } catch (error) {
    if (!(error instanceof ForgedLog)) return [unopened(error)];
    const forged = unopened(error);
    const others = await lookInto(config, { fix: false, looksOnly: true }).catch((next: unknown) => [unopened(next)]);
    return [forged, ...others.filter(({ check }) => check !== forged.check)];
  }
}

type Look = { readonly fix: boolean; readonly looksOnly: boolean };

async function lookInto(config: Config, { fix, looksOnly }: Look): Promise<readonly Finding[]> {
  return runOperations(
    config,
    async (run) => {
      const { findings, running } = await run('diagnose', { fix });
      const first = [versions(running), ...removedFiles(config)];
      // A service of a different version may not support the operation that checks rows.
      const rows = running.version === productVersion() ? [await rowsFound(run)] : [];
      // If rows are forged, the check of all rows names them together.
      if (rows.some(({ do: what }) => what === forgedRowsAdvice)) {
        return [...first, ...findings.filter(({ check }) => check !== 'rows'), ...rows];
      }
      // A check may have repaired the rows that an earlier check reported.
      const wereForged = findings.some(({ check, state }) => check === 'rows' && state === 'problem');
      return [...first, ...findings, ...rows.filter(({ state }) => !wereForged || state === 'problem')];
    },
    { looksOnly },
  );
}

/** Returns the finding for an error because of which the stores could not be opened or checked. */
function unopened(error: unknown): Finding {
  if (error instanceof StoreProblem && error.found !== null) return problemFound(error.found);
  if (error instanceof StoreUnavailable) return problem('stores', storeUnavailableText(error));
  if (error instanceof Failure || error instanceof StoreProblem) return problem('stores', error.message);
  throw error;
}

async function rowsFound(run: RunOperation): Promise<Finding> {
  const checked = await checkAllRows(run, { json: false }).catch((error: unknown) => {
    if (error instanceof Failure) return error;
    throw error;
  });
  // The rows cannot be read, for example because a file is damaged.
  if (checked instanceof Failure) return problem('rows', checked.message);
  const { rows, problems } = checked;
  if (problems.length === 0) return ok('rows', `${counted(rows, 'row')} checked: authentic and up to date`);
  return problem('rows', forgedText(problems), forgedRowsAdvice);
}

/** Returns the findings as a table, with the advice for each finding on the line below it. */
function tableOf(findings: readonly Finding[]): string {
  const rows = findings.flatMap(({ check, state, says, do: what }) => {
    const [first = '', ...more] = [...says.split('\n'), ...(what === undefined ? [] : [what])];
    return [[state === 'problem' ? 'PROBLEM' : state, check, first], ...more.map((line) => ['', '', line])];
  });
  return table(['state', 'check', 'finding'], rows).join('\n');
}

/**
 * The version of the program that has the stores open, and the stored version of each projection. The version of a
 * projection is null if the projection is not stored.
 */
type Running = {
  readonly version: string;
  readonly projections: readonly { readonly name: string; readonly version: number | null }[];
};

/**
 * Compares this program's version with the version of the program that has the stores open, and with the versions of
 * the stored projections. Does not check the schemas of the stores, because they were checked when the stores were
 * opened.
 */
function versions(running: Running): Finding {
  const own = productVersion();
  if (running.version !== own) {
    return problem(
      'versions',
      `the running service is version ${running.version}, and this program is version ${own}`,
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
        `Strongroom ${own}; the stores use the schemas of this version` +
          `${stored.length === 0 ? '' : `; versions of projections: ${text(stored)}`}`,
      )
    : problem(
        'versions',
        `built by an older version: ${text(old)}`,
        'Start the service, or a worker: it rebuilds these projections.',
      );
}
