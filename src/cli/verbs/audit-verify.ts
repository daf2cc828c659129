import type { Command } from 'commander';
import { readPublicKey } from '../audit/read-public-key.js';
import { type Verification, type VerifyOptions, verifyExport, verifyVault } from '../audit/run-verify.js';
import { verificationJson, verificationText } from '../audit/verification-text.js';
import { Failure } from '../failure.js';
import { configOf, storeSettings, withSettings } from '../options.js';
import { print } from '../print.js';
import { runOperations } from '../run-verb.js';
import { wholeNumber } from '../whole-number.js';

type Options = {
  readonly from?: number;
  readonly to?: number;
  readonly anchor?: string;
  readonly offline?: string;
  readonly publicKey?: string;
  readonly json?: boolean;
};

/** `strongroom audit verify`. */
export function addAuditVerify(audit: Command): void {
  withSettings(audit.command('verify'), storeSettings)
    .description('recompute the chain of the log and what its checkpoints signed; exit 3 names the first difference')
    .option('--from <position>', 'begin with the last checkpoint before this position', wholeNumber)
    .option('--to <position>', 'end with this position', wholeNumber)
    .option('--anchor <file>', 'compare with the checkpoints that audit.anchor has kept; shows a log whose end was cut')
    .option('--offline <export>', 'verify this file of `audit export`, and no vault')
    .option('--public-key <file>', 'the public key that you have kept; without it, the one that comes with the log')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
No data key is used, so it works for what was erased, too. The access log is verified with the log that signs it.
Without --to and --offline, so are the rows: each must be one that the vault wrote, and the newest.

Examples:
  strongroom audit verify --anchor /mnt/elsewhere/anchor.jsonl --public-key audit.pub
  strongroom audit verify --offline log.jsonl --public-key audit.pub`,
    )
    .action(async (options: Options) => {
      const { from = 1, to = null, anchor = null, offline, json = false } = options;
      if (offline !== undefined && (options.from !== undefined || to !== null)) {
        throw new Failure('--from and --to belong to the vault; an export is verified in whole.', 2);
      }
      if (to !== null && to < from) throw new Failure('--to lies before --from.', 2);
      const publicKey = options.publicKey === undefined ? null : await readPublicKey(options.publicKey);
      const given: VerifyOptions = { from, to, anchor, publicKey, json };
      const verification =
        offline === undefined
          ? await runOperations(configOf(options), (run) => verifyVault(run, given), { looksOnly: true })
          : await verifyExport(offline, given);
      show(verification, json);
    });
}

function show(verification: Verification, json: boolean): void {
  const { problem } = verification;
  if (problem === null || json) {
    print(verificationJson(verification), { json }, () => verificationText(verification));
  }
  if (problem !== null) throw new Failure(`${problem.message}.`, 3);
}
