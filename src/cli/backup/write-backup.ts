import { existsSync } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import type { Encrypter } from 'age-encryption';
import { checkAccessCopies, checkLogCopy } from '../../compose/backup/check-copies.js';
import { copyStoreFiles, keysToCopy } from '../../compose/backup/stores-to-copy.js';
import type { Config } from '../../compose/config/config.js';
import { fileErrorCode } from '../../compose/files/file-error-code.js';
import { fsyncPath } from '../../compose/files/fsync-path.js';
import { dataDirectoryOf } from '../../compose/open-profile.js';
import { namedMax } from '../../domain/text.js';
import { type KeysToCopy, keysFile, type OnPhase } from '../../ports/backup.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { Failure } from '../failure.js';
import { expectFree, writeNewDirectory, writeNewFile } from '../files/out-file.js';
import { interruptible } from '../files/until-signal.js';
import type { Answers } from '../operations.js';
import { expectVault, type RunOperation, runCommand, runOperations } from '../run-command.js';
import { sealed } from '../tokens/run-export.js';
import { erasedLines } from './erased-list.js';
import { authenticatedText, erasedFile, manifestFile, sha256Of } from './manifest.js';

const interrupted = 'interrupted; nothing was written.';

export type Backup = { readonly folder: string; readonly made_at: string; readonly files: readonly string[] };

/**
 * `damage` describes each damaged file of the backup, other than damaged keys. `unrecorded` says why the time of the
 * backup could not be recorded in the vault. It is null if the time is recorded.
 */
export type CheckedBackup = Backup & {
  readonly keys: DamagedKeys;
  readonly damage: readonly string[];
  readonly unrecorded: string | null;
};

/** `damaged` is the number of keys that do not open, and `named` describes the first ones. */
export type DamagedKeys = { readonly damaged: number; readonly named: readonly string[] };
type KeysStep = Answers['keys-check'];

/**
 * Copies a vault, even while it is running, into a new folder. The folder has a temporary name until the copy is
 * complete.
 *
 * The order of the copies matters: first the log and its rows, then the keys, then the list of erased keys. The copy of
 * the keys is therefore never older than the copy of the log (ADR 30).
 *
 * The running service computes the MACs of the manifest and of the list. If no service is running, this process
 * computes the MACs with the root key. In the same way, all keys are opened once, and the MACs of the log's unsigned end
 * are verified. This process then checks its copies of the log and of the access log. Damage does not prevent the
 * backup, because the rest of the data is worth a copy. Throws Failure if the backup cannot be written, or if a signal
 * interrupts it. It then leaves no files behind.
 */
export function writeBackup(
  config: Config,
  out: string,
  encrypter: Encrypter,
  onPhase: OnPhase,
): Promise<CheckedBackup> {
  return interruptible(interrupted, (signal) => copyVault(config, out, encrypter, onPhase, signal));
}

async function copyVault(
  config: Config,
  out: string,
  encrypter: Encrypter,
  onPhase: OnPhase,
  signal: AbortSignal,
): Promise<CheckedBackup> {
  await expectFree(out);
  onPhase('opening the keys');
  const { checked, log } = await runOperations(config, async (run) => ({
    checked: await checkAllKeys(run, signal),
    log: config.settings.profile === 'embedded' ? await checkLog(run) : null,
  }));
  const keys = await keysToCopy(config);
  try {
    const madeAt = new Date().toISOString();
    const written = await writeNewDirectory(out, (part) =>
      writeFiles({ config, keys, madeAt, log, part, encrypter, onPhase, signal }),
    );
    const unrecorded = await recordBackup(keys, madeAt);
    return { folder: resolve(out), made_at: madeAt, ...written, keys: checked, unrecorded };
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    await keys.close();
  }
}

type Writing = {
  readonly config: Config;
  readonly keys: KeysToCopy;
  readonly madeAt: string;
  /** What the vault itself says about its log. Null in the cluster profile, where a backup contains no log. */
  readonly log: Answers['log-check'] | Failure | null;
  readonly part: string;
  readonly encrypter: Encrypter;
  readonly onPhase: OnPhase;
  readonly signal: AbortSignal;
};

/** Writes all files of a backup to the directory `part`. Returns their names, and what is damaged in them. */
async function writeFiles({
  config,
  keys,
  madeAt,
  log,
  part,
  encrypter,
  onPhase,
  signal,
}: Writing): Promise<Pick<CheckedBackup, 'files' | 'damage'>> {
  const { profile } = config.settings;
  if (profile === 'embedded') onPhase('copying the log, the rows and the access log');
  const copied = copyStoreFiles(config, part);
  // While SQLite copies, this thread handles no signal. A signal that came in the meantime ends one of the next steps.
  onPhase('encrypting the keys');
  await writeChunks(join(part, keysFile), await sealed(encrypter, bytesOf(keys.lines())), signal);
  await writeChunks(join(part, erasedFile), bytesOf(authenticErasedLines(config, keys)), signal);
  // This takes long, so it comes after the keys. A restore ends each token whose key was destroyed between the two
  // copies.
  const damage = log === null ? [] : await damageIn(part, log, onPhase, signal);
  onPhase('computing checksums');
  const names = [...copied, keysFile, erasedFile];
  const hashed = names.map(async (name) => ({ name, sha256: await sha256Of(join(part, name), signal) }));
  const files = await Promise.all(hashed);
  const logId = await keys.logId();
  const listed = { format: 'strongroom backup 2', profile, log_id: logId, made_at: madeAt, files } as const;
  const { mac } = await runCommand(config, 'backup-mac', { of: 'manifest', text: authenticatedText(listed) });
  const manifest = { ...listed, mac };
  await writeChunks(join(part, manifestFile), Readable.from([`${JSON.stringify(manifest, null, 2)}\n`]), signal);
  onPhase('saving the files to disk');
  for (const name of await readdir(part)) await fsyncPath(join(part, name));
  signal.throwIfAborted();
  // The checks and checksums can take minutes. Threat: a rotation begins in that time. The operator then destroys the
  // old root key, and nothing can restore this backup, although it counts as the newest one.
  await keys.expectNotRotated();
  return { files: [...names, manifestFile], damage };
}

/** Records the time of a complete backup in the vault. Returns the reason if the vault cannot be written. */
async function recordBackup(keys: KeysToCopy, madeAt: string): Promise<string | null> {
  try {
    await keys.recordBackup(Date.parse(madeAt));
    return null;
  } catch (error) {
    const reason = error instanceof StoreUnavailable ? error.reason : fileErrorCode(error);
    if (reason === null) throw error;
    return reason;
  }
}

/** Returns what the vault says about its log. If it cannot tell, for example because a key is damaged, says why. */
async function checkLog(run: RunOperation): Promise<Answers['log-check'] | Failure> {
  return run('log-check', {}).catch((error: unknown) => {
    if (error instanceof Failure) return error;
    throw error;
  });
}

/** Checks the copied files, and describes what is damaged. `log` is what the vault itself says about its log. */
async function damageIn(
  folder: string,
  log: Answers['log-check'] | Failure,
  onPhase: OnPhase,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const ofFiles = checkAccessCopies(folder, onPhase);
  if (log instanceof Failure) return [`the log in vault.db was not verified: ${log.message}`, ...ofFiles];
  const key = { publicKey: log.public_key, logId: log.log_id };
  const wrong = (await checkLogCopy(folder, key, onPhase, signal)) ?? log.forged;
  return [...(wrong === null ? [] : [`the log in vault.db: ${wrong}`]), ...ofFiles];
}

/** Opens all keys of the vault in steps. Throws the signal's reason if it is aborted. */
async function checkAllKeys(run: RunOperation, signal: AbortSignal): Promise<DamagedKeys> {
  let damaged = 0;
  const named: string[] = [];
  for (let from: KeysStep['next'] = null; ; ) {
    const step: KeysStep = await run('keys-check', { from });
    signal.throwIfAborted();
    damaged += step.damaged;
    named.push(...step.named.slice(0, namedMax - named.length));
    from = step.next;
    if (from === null) return { damaged, named };
  }
}

/**
 * Writes the list of erased keys, with its MAC, to a new file. Throws Failure if the file cannot be written, or if a
 * signal interrupts it. It then leaves no file behind.
 */
export function writeErasedList(config: Config, out: string): Promise<Backup> {
  return interruptible(interrupted, (signal) => listErased(config, out, signal));
}

async function listErased(config: Config, out: string, signal: AbortSignal): Promise<Backup> {
  await expectFree(out);
  const dataDir = dataDirectoryOf(config);
  // The log is not needed. While a service runs, it authenticates a list even if the log was lost.
  if (dataDir !== null && !existsSync(join(dataDir, 'keys.db'))) expectVault(config);
  const keys = await keysToCopy(config);
  try {
    const madeAt = new Date().toISOString();
    await writeNewFile(out, async (write) => {
      for await (const line of bytesOf(authenticErasedLines(config, keys))) {
        signal.throwIfAborted();
        await write(line);
      }
    });
    return { folder: dirname(resolve(out)), made_at: madeAt, files: [basename(out)] };
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    await keys.close();
  }
}

function authenticErasedLines(config: Config, keys: KeysToCopy): AsyncIterable<string> {
  return erasedLines(
    keys,
    async (digest) => (await runCommand(config, 'backup-mac', { of: 'erased-keys', text: digest })).mac,
  );
}

async function writeChunks(
  path: string,
  chunks: AsyncIterable<Uint8Array | string>,
  signal: AbortSignal,
): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of chunks) {
      signal.throwIfAborted();
      await file.writeFile(chunk);
    }
  } finally {
    await file.close();
  }
}

async function* bytesOf(lines: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const line of lines) yield Buffer.from(line);
}
