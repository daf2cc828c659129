import { type Command, InvalidArgumentError } from 'commander';
import { counted } from '../../domain/text.js';
import { Failure } from '../failure.js';
import { configOf, storeSettings, withSettings } from '../options.js';
import { print } from '../print.js';
import { runOperations } from '../run-command.js';
import { wholeNumber } from '../whole-number.js';
import { addAuditBundle } from './audit-bundle.js';
import { addAuditErasure } from './audit-erasure.js';
import { addAuditHistory } from './audit-history.js';
import { addAuditReplay } from './audit-replay.js';
import { addAuditStream } from './audit-stream.js';
import { addAuditVerify } from './audit-verify.js';
import { beginAudit } from './log-lines.js';
import { periodOf } from './period.js';
import { exportLog } from './run-export.js';
import { exportRecords } from './run-record-export.js';

type ExportOptions = {
  readonly format: 'log' | 'csv' | 'jsonl';
  readonly from?: string;
  readonly to?: string;
  readonly tenant?: string;
  readonly out: string;
  readonly json?: boolean;
};

/** Adds the command `strongroom audit` and its subcommands. */
export function addAudit(program: Command): void {
  const audit = program.command('audit').description('verify, export and show the history of the vault');
  addAuditVerify(audit);
  addAuditHistory(audit);
  addAuditReplay(audit);
  addAuditErasure(audit);
  addAuditStream(audit);
  addAuditBundle(audit);

  withSettings(audit.command('public-key'), storeSettings)
    .description('print the public key that verifies checkpoints; store it outside the vault')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  strongroom audit public-key > audit.pub')
    .action(async (options: { readonly json?: boolean }) => {
      const { public_key: key } = await runOperations(configOf(options), (run) =>
        beginAudit(run, 1, { exports: false }),
      );
      print({ public_key: key }, options, () => key.trimEnd());
    });

  withSettings(audit.command('export'), storeSettings)
    .description('write the log, for verification, or the access log, with named columns, to a file')
    .option('--format <format>', 'log (for `audit verify --offline`), csv or jsonl', formatOf, 'log')
    .option('--from <start>', 'log: the last checkpoint before this position; csv, jsonl: this time')
    .option('--to <end>', 'log: up to this position; csv, jsonl: before this time')
    .option('--tenant <id>', 'csv, jsonl: only this tenant')
    .requiredOption('--out <file>', 'a new file, readable only by its owner')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The file contains no data keys, so no value in it can be read. Verify a log on
any machine with \`strongroom audit verify --offline\`. csv and jsonl contain
one line for each access log entry. A CSV field that begins with =, +, - or @
is prefixed with a quote, so that spreadsheets do not run it.

Examples:
  strongroom audit export --out log.jsonl
  strongroom audit export --format csv --from 2026-01-01 --to 2026-04-01 \\
    --out access.csv`,
    )
    .action(async ({ format, from, to, tenant, out, json = false, ...options }: ExportOptions) => {
      if (format === 'log') {
        if (tenant !== undefined) throw new Failure('--tenant is for --format csv and jsonl.', 2);
        const given = { ...positionsOf(from, to), out, json };
        const { events, batches } = await runOperations(configOf(options), (run) => exportLog(run, given), {
          looksOnly: true,
        });
        const text =
          `exported ${counted(events, 'event')} and ${counted(batches, 'batch', 'batches')} of the access log to ` +
          `${out}`;
        print({ type: 'summary', events, access_batches: batches }, { json }, () => text);
        return;
      }
      const filter = { tenant: tenant ?? null, ...periodOf(from, to) };
      const { records } = await runOperations(
        configOf(options),
        (run) => exportRecords(run, { format, filter, out, json }),
        { looksOnly: true },
      );
      print({ type: 'summary', records }, { json }, () => `exported ${counted(records, 'record')} to ${out}`);
    });
}

function formatOf(text: string): ExportOptions['format'] {
  if (text === 'log' || text === 'csv' || text === 'jsonl') return text;
  throw new InvalidArgumentError('It must be log, csv or jsonl.');
}

function positionsOf(from: string | undefined, to: string | undefined) {
  const [first, last] = [from, to].map((text) => {
    if (text === undefined) return undefined;
    try {
      return wholeNumber(text);
    } catch {
      throw new Failure('--from and --to must be positions in the log: whole numbers from 1.', 2);
    }
  });
  if (first !== undefined && last !== undefined && last < first) throw new Failure('--to is before --from.', 2);
  return { from: first ?? 1, to: last ?? null };
}
