import type { Command } from 'commander';
import { Failure } from '../failure.js';
import { configOf, storeSettings, withSettings } from '../options.js';
import { print } from '../print.js';
import { runOperations } from '../run-command.js';
import { wholeNumber } from '../whole-number.js';
import { readPublicKey } from './read-public-key.js';
import { type Verification, type VerifyOptions, verifyExport, verifyVault } from './run-verify.js';
import { verificationJson, verificationText } from './verification-text.js';

type Options = {
  readonly from?: number;
  readonly to?: number;
  readonly anchor?: string;
  readonly offline?: string;
  readonly publicKey?: string;
  readonly json?: boolean;
};

/** Adds the command `strongroom audit verify`. */
export function addAuditVerify(audit: Command): void {
  withSettings(audit.command('verify'), storeSettings)
    .description(
      'recompute the chain of the log and compare it with its checkpoints; exit code 3 reports the first difference',
    )
    .option('--from <position>', 'start at the last checkpoint before this position', wholeNumber)
    .option('--to <position>', 'stop after this position', wholeNumber)
    .option(
      '--anchor <file>',
      'compare with the checkpoints that audit.anchor has stored; detects a log whose end was cut off',
    )
    .option('--offline <export>', 'verify this file of `audit export` instead of a vault')
    .option('--public-key <file>', 'the public key that you have stored (default: the one that comes with the log)')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The command needs no data keys, so it also verifies erased data. It verifies the
log and the access log. Without --to and --offline, it also verifies the rows:
the vault must have written each of them, and each must be the newest version.

Without --public-key, --offline uses the key in the export. This shows that the
export is consistent, but not where it comes from: anyone can make an export
and sign it with another key.

Examples:
  strongroom audit verify --anchor /mnt/elsewhere/anchor.jsonl \\
    --public-key audit.pub
  strongroom audit verify --offline log.jsonl --public-key audit.pub`,
    )
    .action(async (options: Options) => {
      const { from = 1, to = null, anchor = null, offline, json = false } = options;
      if (offline !== undefined && (options.from !== undefined || to !== null)) {
        throw new Failure('--from and --to apply to a vault; an export is always verified as a whole.', 2);
      }
      if (to !== null && to < from) throw new Failure('--to is before --from.', 2);
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
  // Threat: a name in a forged log contains line breaks, and the lines look like the result of a valid log.
  if (problem !== null) throw new Failure(`${problem.message.replaceAll('\n', '\\n')}.`, 3);
}
