import type { Command } from 'commander';
import { beginAudit } from '../audit/log-lines.js';
import { exportLog } from '../audit/run-export.js';
import { Failure } from '../failure.js';
import { configOf, storeSettings, withSettings } from '../options.js';
import { print } from '../print.js';
import { runOperations } from '../run-verb.js';
import { wholeNumber } from '../whole-number.js';
import { addAuditErasure } from './audit-erasure.js';
import { addAuditHistory } from './audit-history.js';
import { addAuditReplay } from './audit-replay.js';
import { addAuditVerify } from './audit-verify.js';

type ExportOptions = { readonly from?: number; readonly to?: number; readonly out: string; readonly json?: boolean };

/** `strongroom audit verify`, `public-key`, `export`, `history`, `replay` and `erasure`. */
export function addAudit(program: Command): void {
  const audit = program.command('audit').description('prove what happened');
  addAuditVerify(audit);
  addAuditHistory(audit);
  addAuditReplay(audit);
  addAuditErasure(audit);

  withSettings(audit.command('public-key'), storeSettings)
    .description('print the public key that verifies checkpoints; keep it where the vault is not')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  strongroom audit public-key > audit.pub')
    .action(async (options: { readonly json?: boolean }) => {
      const { public_key: key } = await runOperations(configOf(options), (run) => beginAudit(run, 1));
      print({ public_key: key }, options, () => key.trimEnd());
    });

  withSettings(audit.command('export'), storeSettings)
    .description('write the log with its chain and checkpoints, and the access log, to a file, sealed as it is')
    .option('--from <position>', 'begin with the last checkpoint before this position', wholeNumber)
    .option('--to <position>', 'end with this position', wholeNumber)
    .requiredOption('--out <file>', 'a new file, for its owner alone')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
No value is readable in it, and no data key is in it. Verify it anywhere with \`strongroom audit verify --offline\`.

Example:
  strongroom audit export --out log.jsonl`,
    )
    .action(async ({ from = 1, to, out, json = false, ...options }: ExportOptions) => {
      if (to !== undefined && to < from) throw new Failure('--to lies before --from.', 2);
      const given = { from, to: to ?? null, out, json };
      const { events, batches } = await runOperations(configOf(options), (run) => exportLog(run, given), {
        looksOnly: true,
      });
      const text = `exported ${events} events and ${batches} batches of the access log to ${out}`;
      print({ type: 'summary', events, access_batches: batches }, { json }, () => text);
    });
}
