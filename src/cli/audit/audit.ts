import type { Command } from 'commander';
import { counted } from '../../domain/text.js';
import { Failure } from '../failure.js';
import { configOf, storeSettings, withSettings } from '../options.js';
import { print } from '../print.js';
import { runOperations } from '../run-command.js';
import { wholeNumber } from '../whole-number.js';
import { addAuditErasure } from './audit-erasure.js';
import { addAuditHistory } from './audit-history.js';
import { addAuditReplay } from './audit-replay.js';
import { addAuditVerify } from './audit-verify.js';
import { beginAudit } from './log-lines.js';
import { exportLog } from './run-export.js';

type ExportOptions = { readonly from?: number; readonly to?: number; readonly out: string; readonly json?: boolean };

/** `strongroom audit verify`, `public-key`, `export`, `history`, `replay` and `erasure`. */
export function addAudit(program: Command): void {
  const audit = program.command('audit').description('verify, export and show the history of the vault');
  addAuditVerify(audit);
  addAuditHistory(audit);
  addAuditReplay(audit);
  addAuditErasure(audit);

  withSettings(audit.command('public-key'), storeSettings)
    .description('print the public key that verifies checkpoints; store it outside the vault')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  strongroom audit public-key > audit.pub')
    .action(async (options: { readonly json?: boolean }) => {
      const { public_key: key } = await runOperations(configOf(options), (run) => beginAudit(run, 1));
      print({ public_key: key }, options, () => key.trimEnd());
    });

  withSettings(audit.command('export'), storeSettings)
    .description('write the log with its chain and checkpoints, and the access log, to a file; values stay encrypted')
    .option('--from <position>', 'start at the last checkpoint before this position', wholeNumber)
    .option('--to <position>', 'stop after this position', wholeNumber)
    .requiredOption('--out <file>', 'a new file, readable only by its owner')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The file holds no data key, so no value in it can be read. Verify it on any
machine with \`strongroom audit verify --offline\`.

Example:
  strongroom audit export --out log.jsonl`,
    )
    .action(async ({ from = 1, to, out, json = false, ...options }: ExportOptions) => {
      if (to !== undefined && to < from) throw new Failure('--to is before --from.', 2);
      const given = { from, to: to ?? null, out, json };
      const { events, batches } = await runOperations(configOf(options), (run) => exportLog(run, given), {
        looksOnly: true,
      });
      const text = `exported ${counted(events, 'event')} and ${counted(batches, 'batch', 'batches')} of the access log to ${out}`;
      print({ type: 'summary', events, access_batches: batches }, { json }, () => text);
    });
}
