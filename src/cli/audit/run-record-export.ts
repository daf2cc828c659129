import { csvLine } from '../../audit/csv-line.js';
import { Failure } from '../failure.js';
import { writeNewFile } from '../files/out-file.js';
import { showProgress } from '../files/progress.js';
import { untilSignal } from '../files/until-signal.js';
import type { Answers } from '../operations.js';
import { writeError } from '../print.js';
import type { RunOperation } from '../run-command.js';
import { type AuditRecord, type RecordFilter, recordColumns } from './audit-records-operation.js';

export type RecordExport = {
  readonly format: 'csv' | 'jsonl';
  readonly filter: RecordFilter;
  readonly out: string;
  readonly json: boolean;
};

/**
 * Writes the access log to a file as records with named columns. If the function throws Failure, it leaves no file
 * behind.
 */
export async function exportRecords(run: RunOperation, options: RecordExport): Promise<{ readonly records: number }> {
  const { format, filter, out, json } = options;
  const lineOf = format === 'csv' ? csvRecord : jsonLine;
  let records = 0;
  const interrupt = untilSignal(() => undefined);
  const progress = () => ({ items: records, done: 0, total: null, phase: null, fields: { records } });
  const display = showProgress(progress, { json, noun: 'record' });
  try {
    await writeNewFile(out, async (write) => {
      if (format === 'csv') await write(Buffer.from(csvHeader()));
      for await (const page of recordPages(run, filter, { begins: true })) {
        if (interrupt.came()) throw new Failure('interrupted; no file was written.');
        await write(Buffer.from(page.map(lineOf).join('')));
        records += page.length;
      }
    });
  } finally {
    interrupt.end();
    display.end();
  }
  return { records };
}

/**
 * Yields, chain by chain, all records that exist when the iteration begins, and possibly some newer ones. If `begins`
 * is true, the access log also records that an operator reads it.
 */
export async function* recordPages(
  run: RunOperation,
  filter: RecordFilter,
  { begins }: { readonly begins: boolean },
): AsyncGenerator<readonly AuditRecord[]> {
  const { chains, unrecorded }: Answers['audit-chains'] = await run('audit-chains', {
    since: 0,
    tenant: filter.tenant,
    begins,
  });
  if (unrecorded !== null) writeError(`${unrecorded}\n`);
  for (const { chain, sequence } of chains) {
    for (let after: number | null = 0; after !== null && after < sequence; ) {
      const page: Answers['audit-records'] = await run('audit-records', { chain, after, filter });
      yield page.records;
      after = page.last;
    }
  }
}

/** Returns the record as a line of JSON. */
function jsonLine(record: AuditRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/** Returns the first line of a CSV file: the column names. */
function csvHeader(): string {
  return csvLine([...recordColumns]);
}

function csvRecord(record: AuditRecord): string {
  return csvLine(recordColumns.map((column) => record[column]));
}
