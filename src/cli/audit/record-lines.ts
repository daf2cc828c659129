import { csvLine } from '../../audit/csv-line.js';
import { type AuditRecord, recordColumns } from './audit-records-operation.js';

/** Returns the record as a line of JSON. */
export function jsonLine(record: AuditRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/** Returns the first line of a CSV file: the column names. */
export function csvHeader(): string {
  return csvLine([...recordColumns]);
}

export function csvRecord(record: AuditRecord): string {
  return csvLine(recordColumns.map((column) => record[column]));
}
