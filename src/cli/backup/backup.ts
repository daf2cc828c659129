import type { Command } from 'commander';
import type { Erased } from '../../commands/recovery/record-erased.js';
import { counted, firstOf, grouped } from '../../domain/text.js';
import type { OnPhase } from '../../ports/backup.js';
import { Failure } from '../failure.js';
import { encrypterFor, withRecipients } from '../files/age-keys.js';
import { showPhases } from '../files/progress.js';
import { configOf, storeSettings, withSettings } from '../options.js';
import { print } from '../print.js';
import { countsOf, runAccept, runRestore } from './run-restore.js';
import { type Backup, type CheckedBackup, type DamagedKeys, writeBackup, writeErasedList } from './write-backup.js';

type BackupOptions = {
  readonly recipient?: readonly string[];
  readonly recipientFile?: readonly string[];
  readonly erasedOnly?: boolean;
  readonly json?: boolean;
};

type RestoreOptions = {
  readonly identity?: string;
  readonly erased?: string;
  readonly acceptOlderLog?: boolean;
  readonly json?: boolean;
};

/** Adds the commands `strongroom backup` and `strongroom restore`. */
export function addBackup(program: Command): void {
  withRecipients(withSettings(program.command('backup <out>'), storeSettings), 'the keys')
    .description('copy the vault into a new folder while it is in use; the keys are encrypted to a recipient')
    .option('--erased-only', 'write only the list of erased keys, to a new file')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Exit code 3 means that the backup is complete, but that it contains keys that
do not open, a damaged log or a damaged access log. Exit code 4 means that the
backup is complete and without damage, but that its time could not be recorded
in the vault. In the cluster profile, a backup contains only the keys and the
list of erased keys. Before you make it, copy the log and the rows with the
servers' own tools.

Examples:
  strongroom backup /backup/monday --recipient-file backup.recipient \\
    --data /var/lib/strongroom
  strongroom backup /backup/erased.txt --erased-only --data /var/lib/strongroom`,
    )
    .action(async (out: string, options: BackupOptions) => {
      const ended = await withPhases(options, (onPhase) => backUp(out, options, onPhase));
      const { keys, damage = [], unrecorded = null, ...made } = ended;
      const found = keys === undefined ? {} : { damaged_keys: keys.damaged, damage: [...damage] };
      print({ ...made, ...found }, options, () => `wrote ${made.files.join(', ')} to ${made.folder}`);
      const damages = [
        ...(keys !== undefined && keys.damaged > 0 ? [damagedKeysText(keys)] : []),
        ...(damage.length > 0 ? [damageText(damage)] : []),
      ];
      const texts = unrecorded === null ? damages : [...damages, unrecordedText(unrecorded)];
      if (texts.length > 0) throw new Failure(texts.join('\n'), damages.length > 0 ? 3 : 4);
    });
  withSettings(program.command('restore [folder]'), storeSettings)
    .description('restore a vault from a backup, without data that was erased since then')
    .option('--identity <file>', 'file with the age identity that decrypts the keys')
    .option('--erased <file>', 'the newest list of erased keys')
    .option(
      '--accept-older-log',
      'record what was erased after the log was copied: tenants, tokens and verification codes',
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Without a folder, --accept-older-log repairs a vault whose log was restored in
another way and is older than its keys.

Examples:
  strongroom restore /backup/monday --identity backup.identity \\
    --erased /backup/erased.txt --data /var/lib/strongroom \\
    --root-key-file /etc/strongroom/root.key
  strongroom restore --accept-older-log --data /var/lib/strongroom \\
    --root-key-file /etc/strongroom/root.key`,
    )
    .action(async (folder: string | undefined, { json = false, ...options }: RestoreOptions) => {
      const ended = await withPhases({ json }, (onPhase) => restore(folder, options, onPhase));
      const { tenants, tokens, cvcs } = countsOf(ended);
      const counts = { tenants_deleted: tenants, tokens_deleted: tokens, cvcs_purged: cvcs };
      print(counts, { json }, () => restoredText(folder, ended));
    });
}

function damagedKeysText({ damaged, named }: DamagedKeys): string {
  const keys = damaged === 1 ? '1 key is damaged and does' : `${grouped(damaged)} keys are damaged and do`;
  return (
    `the backup is complete, but ${keys} not open: ${firstOf(named, damaged)}. A restore cannot bring back what was ` +
    'encrypted under such a key. Do not remove older backups, and run `strongroom doctor`, which names the tokens ' +
    'that need such a key.'
  );
}

function damageText(damage: readonly string[]): string {
  return (
    `the backup is complete, but a part of it is damaged: ${firstOf(damage)}. Do not remove older backups, and find ` +
    'out what changed or damaged the data, for example the disk. Then restore the damaged file from the newest backup ' +
    'for which this command exited with status 0.'
  );
}

function unrecordedText(reason: string): string {
  return (
    `the backup is complete, but its time could not be recorded in the vault (${reason}). Until the next backup, the ` +
    'metrics show the time of the previous one.'
  );
}

function restoredText(folder: string | undefined, ended: Erased): string {
  const done = folder === undefined ? 'accepted the log' : 'restored';
  const { tenants, tokens, cvcs } = countsOf(ended);
  const recorded = [
    ...(tenants === 0 ? [] : [`${counted(tenants, 'tenant')} as deleted`]),
    ...(tokens === 0 ? [] : [`${counted(tokens, 'token')} as deleted`]),
    ...(cvcs === 0 ? [] : [`${counted(cvcs, 'verification code')} as purged`]),
  ];
  if (recorded.length === 0) return done;
  return `${done}; recorded ${recorded.join(', ')}, because the keys were erased after the log was copied`;
}

/** Runs a long command and shows its phases. With `--json`, shows no phases. */
async function withPhases<T>(
  { json = false }: { readonly json?: boolean },
  work: (onPhase: OnPhase) => Promise<T>,
): Promise<T> {
  if (json) return work(() => undefined);
  const display = showPhases('starting');
  try {
    return await work(display.next);
  } finally {
    display.end();
  }
}

async function restore(
  folder: string | undefined,
  { identity, erased, acceptOlderLog = false, ...options }: Omit<RestoreOptions, 'json'>,
  onPhase: OnPhase,
): Promise<Erased> {
  if (folder !== undefined) {
    if (identity === undefined || erased === undefined) {
      throw new Failure(
        'a restore needs the identity and the list of erased keys: --identity FILE and --erased FILE.',
        2,
      );
    }
    return runRestore(configOf(options), { folder, identity, erased }, acceptOlderLog, onPhase);
  }
  if (!acceptOlderLog || identity !== undefined || erased !== undefined) {
    throw new Failure('specify the folder of a backup; only --accept-older-log on its own works without one.', 2);
  }
  onPhase('verifying the log');
  return runAccept(configOf(options));
}

async function backUp(
  out: string,
  { recipient = [], recipientFile = [], erasedOnly, ...options }: BackupOptions,
  onPhase: OnPhase,
): Promise<Backup & Partial<CheckedBackup>> {
  const config = configOf(options);
  if (erasedOnly === true) return writeErasedList(config, out);
  if (recipient.length + recipientFile.length === 0) {
    throw new Failure('specify a recipient for the keys: --recipient age1… or --recipient-file FILE.', 2);
  }
  return writeBackup(config, out, await encrypterFor(recipient, recipientFile), onPhase);
}
