import type { Rebuild } from '../../../ports/generations.js';
import { projectionVersions } from '../../../views/versions.js';
import { damagedFile } from '../database/database-error.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { rowTables, slots } from '../database/rows-schema.js';

/** The largest number that the vault can have counted to. Larger numbers would also be inexact in JavaScript. */
const countMax = 2 ** 48;

/**
 * A table with the state of a file. `needed` are rows that the table must have: exactly `rows` rows fulfil `where`.
 * `valid` is an SQL condition that each row of the table must fulfil.
 */
type StateTable = {
  readonly table: string;
  readonly needed: { readonly where: string; readonly rows: number } | null;
  readonly valid: string;
};

const oneRow = { where: 'true', rows: 1 } as const;

const isHash = 'length(hash) = 32';
const rebuildPhases: readonly Rebuild['phase'][] = ['building', 'comparing', 'keeping', 'dropping', 'ended'];
const projectionNames = Object.keys(projectionVersions);

function isCount(column: string): string {
  return `${column} BETWEEN 0 AND ${countMax}`;
}

/** A condition that is true if a column contains null or a `Rebuild` as JSON. */
function isRebuild(column: string): string {
  const numbers = ['generation', 'from', 'position', 'head', 'startedAt', 'different'];
  const conditions = [
    `json_extract(${column}, '$.phase') IN (${listOf(rebuildPhases)})`,
    ...numbers.map((name) => `json_type(${column}, '$.${name}') = 'integer'`),
    `json_type(${column}, '$.examples') = 'array'`,
  ];
  return `CASE WHEN ${column} IS NULL THEN 1 WHEN json_valid(${column}) THEN ${conditions.join(' AND ')} ELSE 0 END`;
}

function listOf(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}

const stateTables: Readonly<Record<'keys.db' | 'vault.db' | 'journal.db', readonly StateTable[]>> = {
  'keys.db': [
    {
      table: 'meta',
      needed: null,
      valid: `name NOT IN ('clock', 'log_memory') OR json_valid(CAST(value AS TEXT))`,
    },
    { table: 'directory_revisions', needed: null, valid: isCount('revision') },
  ],
  'vault.db': [
    { table: 'applied', needed: oneRow, valid: `${isCount('sequence')} AND ${isHash}` },
    {
      table: 'generations',
      needed: { where: `state = 'read'`, rows: 1 },
      valid: `slot IN (${slots.join(', ')}) AND ${isCount('generation')}`,
    },
    {
      table: 'projections',
      needed: { where: `name IN (${listOf(projectionNames)})`, rows: projectionNames.length },
      valid: `${isCount('version')} AND ${isRebuild('rebuild')}`,
    },
    ...slots.map((slot) => ({
      table: rowTables(slot).indexState,
      needed: oneRow,
      valid: `${isCount('merged')} AND ${isCount('erased')} AND ${isCount('version')}`,
    })),
  ],
  'journal.db': [
    {
      table: 'ends',
      needed: { where: `of IN ('groups', 'batches')`, rows: 2 },
      valid: `${isCount('sequence')} AND ${isCount('position')} AND ${isHash}`,
    },
  ],
};

/**
 * Checks the tables that contain the file's own state. Throws StoreBroken if a row of them is missing, or if a value is
 * impossible. Threat: an attacker changes such a table to make the vault fail with an unexplained error. The
 * schema does not rule this out, because a constraint cannot require a row.
 */
export function expectState(database: SqliteDatabase, fileName: keyof typeof stateTables): void {
  for (const { table, needed, valid } of stateTables[fileName]) {
    const counted = database.prepare(
      `SELECT ifnull(sum(${needed?.where ?? 'true'}), 0) AS rows, ifnull(sum((${valid}) IS NOT TRUE), 0) AS ` +
        `invalid FROM ${table}`,
    );
    const found = counted.get() as { readonly rows: number; readonly invalid: number };
    if (needed !== null && found.rows !== needed.rows)
      throw damagedFile(fileName, `the table ${table} lacks a row, or has one too many`);
    if (found.invalid > 0) throw damagedFile(fileName, `a value in the table ${table} is impossible`);
  }
}
