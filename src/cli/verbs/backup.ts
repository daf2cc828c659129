import type { Command } from 'commander';
import { runAccept, runRestore } from '../backup/run-restore.js';
import { type Backup, writeBackup, writeErasedList } from '../backup/write-backup.js';
import { encrypterFor } from '../bulk/age-keys.js';
import { Failure } from '../failure.js';
import { configOf, storeSettings, withSettings } from '../options.js';
import { print } from '../print.js';

type BackupOptions = {
  readonly recipient: readonly string[];
  readonly recipientFile: readonly string[];
  readonly erasedOnly?: boolean;
  readonly json?: boolean;
};

type RestoreOptions = {
  readonly identity?: string;
  readonly erased?: string;
  readonly acceptOlderLog?: boolean;
  readonly json?: boolean;
};

/** `strongroom backup` and `strongroom restore`. */
export function addBackup(program: Command): void {
  withSettings(program.command('backup <out>'), storeSettings)
    .description('copy the vault into a new folder while it works; the keys are sealed to a recipient')
    .option('--recipient <age1...>', 'seal the keys to this age recipient; may be given several times', collect, [])
    .option('--recipient-file <file>', 'seal the keys to the age recipients in this file, one a line', collect, [])
    .option('--erased-only', 'write nothing but the list of erased keys, to a new file')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
In the cluster profile it holds the keys and the list; the servers' own tools copy log and rows, before.

Examples:
  strongroom backup /backup/monday --recipient-file backup.recipient --data /var/lib/strongroom
  strongroom backup /backup/erased.txt --erased-only --data /var/lib/strongroom`,
    )
    .action(async (out: string, options: BackupOptions) => {
      const made = await backUp(out, options);
      print({ ...made }, options, () => `wrote ${made.files.join(', ')} to ${made.folder}`);
    });
  withSettings(program.command('restore [folder]'), storeSettings)
    .description('make a vault again from a backup, without what was erased since')
    .option('--identity <file>', 'file with the age identity that opens the keys')
    .option('--erased <file>', 'the newest list of erased keys there is')
    .option('--accept-older-log', 'record tokens as ended whose keys were erased after the log was copied')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Without a folder, --accept-older-log does the same to a log that was put back by hand and is behind its keys.

Examples:
  strongroom restore /backup/monday --identity backup.identity --erased /backup/erased.txt \\
    --data /var/lib/strongroom --root-key-file /etc/strongroom/root.key
  strongroom restore --accept-older-log --data /var/lib/strongroom --root-key-file /etc/strongroom/root.key`,
    )
    .action(async (folder: string | undefined, { json = false, ...options }: RestoreOptions) => {
      const ended = await restore(folder, options);
      const done = folder === undefined ? 'accepted' : 'restored';
      const text = `${done}. ${ended} tokens whose keys were erased after the log was copied are recorded as ended.`;
      print({ tokens_ended: ended }, { json }, () => text);
    });
}

async function restore(
  folder: string | undefined,
  { identity, erased, acceptOlderLog = false, ...options }: Omit<RestoreOptions, 'json'>,
): Promise<number> {
  if (folder !== undefined) {
    if (identity === undefined || erased === undefined) {
      throw new Failure('name what opens the keys and what was erased: --identity FILE and --erased FILE.', 2);
    }
    return runRestore(configOf(options), { folder, identity, erased }, acceptOlderLog);
  }
  if (!acceptOlderLog || identity !== undefined || erased !== undefined) {
    throw new Failure('name the folder of a backup; only --accept-older-log alone does without.', 2);
  }
  return runAccept(configOf(options));
}

async function backUp(
  out: string,
  { recipient, recipientFile, erasedOnly, ...options }: BackupOptions,
): Promise<Backup> {
  const config = configOf(options);
  if (erasedOnly === true) return writeErasedList(config, out);
  if (recipient.length + recipientFile.length === 0) {
    throw new Failure('say who may open the keys: --recipient age1… or --recipient-file FILE.', 2);
  }
  return writeBackup(config, out, await encrypterFor(recipient, recipientFile));
}

function collect(value: string, previous: readonly string[]): readonly string[] {
  return [...previous, value];
}
