import { join } from 'node:path';
import { acceptOlderLog } from '../../compose/backup/accept-older-log.js';
import { backupMacKey } from '../../compose/backup/backup-mac-key.js';
import { expectNoData, restoreStores } from '../../compose/backup/restore-stores.js';
import type { Config } from '../../compose/config/config.js';
import { counted } from '../../domain/text.js';
import type { UnreadableToken } from '../../jobs/close-unreadable-tokens.js';
import { keysFile, type OnPhase } from '../../ports/backup.js';
import { openImport } from '../bulk/open-import.js';
import { readLines } from '../bulk/read-lines.js';
import { interruptible } from '../bulk/until-signal.js';
import { Failure } from '../failure.js';
import { rootKeysOf } from '../root-keys-of.js';
import { type ErasedList, readErasedList } from './erased-list.js';
import { erasedFile, expectAuthentic, type Manifest, readManifest } from './manifest.js';

const lineBytesMax = 64 * 1024;

export type RestoreFiles = { readonly folder: string; readonly identity: string; readonly erased: string };

/**
 * Creates a new vault from a backup. Returns the number of tokens that were erased after the backup was made. Throws
 * Failure if the backup cannot be restored, or after SIGINT or SIGTERM.
 */
export function runRestore(
  config: Config,
  files: RestoreFiles,
  acceptsOlderLog: boolean,
  onPhase: OnPhase,
): Promise<number> {
  const message =
    config.settings.profile === 'embedded'
      ? 'interrupted; nothing was changed.'
      : 'interrupted. Run the command again: it starts from the beginning.';
  return interruptible(message, (signal) => {
    const nextPhase = (phase: string): void => {
      signal.throwIfAborted();
      onPhase(phase);
    };
    return restoreBackup(config, files, acceptsOlderLog, nextPhase, signal);
  });
}

async function restoreBackup(
  config: Config,
  { folder, identity, erased: erasedPath }: RestoreFiles,
  acceptsOlderLog: boolean,
  onPhase: OnPhase,
  signal: AbortSignal,
): Promise<number> {
  expectNoData(config);
  onPhase('comparing the files with their checksums');
  const manifest = await readManifest(folder, signal);
  const { profile } = config.settings;
  if (manifest.profile !== profile) {
    throw new Failure(
      `this is a backup of the ${manifest.profile} profile, but profile is set to ${profile}. Change the setting profile.`,
      2,
    );
  }
  const erased = await readErasedList(erasedPath);
  if (erased.logId !== manifest.log_id) {
    throw new Failure(
      `${erasedPath} belongs to a different vault than this backup. Nothing was changed. Use a list from the same vault.`,
    );
  }
  // Threat: the operator passes a list that is older than the backup. Keys that were erased after the list was written
  // are missing from it, so a restore could bring back their tokens.
  if (erased.madeAt < Date.parse(manifest.made_at)) {
    throw new Failure(
      `${erasedPath} is older than the backup. Name the newest list of erased keys: that of the newest backup, ` +
        'or the newest one that `strongroom backup --erased-only` wrote.',
    );
  }
  const rootKeys = await rootKeysOf(config, 'restore');
  onPhase('checking the keys of the backup');
  await verify(config, { folder, identity, manifest, erased, rootKeys });
  const input = await openImport(join(folder, keysFile), identity);
  const files = manifest.files.map(({ name }) => name).filter((name) => ![keysFile, erasedFile].includes(name));
  try {
    return await restoreStores({
      config,
      rootKeys,
      folder,
      files,
      erased,
      onPhase,
      signal,
      keyLines: untilAborted(textOf(input.chunks), signal),
      expectAccepted: (lost) => expectAccepted(lost, manifest.made_at, acceptsOlderLog),
    });
  } finally {
    input.stop();
    for (const rootKey of rootKeys) rootKey.fill(0);
  }
}

type Verifying = {
  readonly folder: string;
  readonly identity: string;
  readonly manifest: Manifest;
  readonly erased: ErasedList;
  readonly rootKeys: readonly Buffer[];
};

/**
 * Verifies the backup before anything is written. Reads the keys first, because one of them authenticates the manifest
 * and the list of erased keys. Throws Failure if the verification fails.
 */
async function verify(config: Config, { folder, identity, manifest, erased, rootKeys }: Verifying): Promise<void> {
  const input = await openImport(join(folder, keysFile), identity);
  try {
    const key = await backupMacKey(config, textOf(input.chunks), rootKeys);
    expectAuthentic(manifest, key);
    erased.expectAuthentic(key);
  } finally {
    input.stop();
  }
}

/**
 * Accepts an older log that the operator restored without a backup folder. Returns the number of tokens that were
 * erased after that log was copied. Throws Failure if the log cannot be accepted.
 */
export async function runAccept(config: Config): Promise<number> {
  const rootKeys = await rootKeysOf(config);
  try {
    return await acceptOlderLog(config, rootKeys);
  } finally {
    for (const rootKey of rootKeys) rootKey.fill(0);
  }
}

function expectAccepted(lost: readonly UnreadableToken[], madeAt: string, acceptsOlderLog: boolean): void {
  if (lost.length === 0 || acceptsOlderLog) return;
  throw new Failure(
    `the log in this backup, from ${madeAt}, is older than the list of erased keys: since then, ` +
      `${counted(lost.length, 'token in it was', 'tokens in it were')} deleted or had data replaced, which cannot ` +
      'be restored. Add --accept-older-log to record them as deleted. Nothing was changed.',
    3,
  );
}

async function* textOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  for await (const { bytes } of readLines(chunks, lineBytesMax)) {
    if (bytes === null)
      throw new Failure('the keys in this backup are damaged. Nothing was changed. Use another backup.');
    yield bytes.toString('utf8');
  }
}

async function* untilAborted(lines: AsyncIterable<string>, signal: AbortSignal): AsyncGenerator<string> {
  for await (const line of lines) {
    signal.throwIfAborted();
    yield line;
  }
}
