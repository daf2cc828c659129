import { join } from 'node:path';
import type { Erased } from '../../commands/recovery/record-erased.js';
import { acceptOlderLog } from '../../compose/backup/accept-older-log.js';
import { readBackupKeys, type TenantKeyIds } from '../../compose/backup/read-backup-keys.js';
import { expectNoData, restoreStores } from '../../compose/backup/restore-stores.js';
import type { Config } from '../../compose/config/config.js';
import { counted } from '../../domain/text.js';
import { type ErasedKeys, keysFile, type OnPhase } from '../../ports/backup.js';
import { Failure } from '../failure.js';
import { openImport } from '../files/open-import.js';
import { readLines } from '../files/read-lines.js';
import { interruptible } from '../files/until-signal.js';
import { withRootKeys } from '../root-keys-of.js';
import { type ErasedList, readErasedList } from './erased-list.js';
import { erasedFile, expectAuthentic, type Manifest, readManifest } from './manifest.js';

const lineBytesMax = 64 * 1024;

export type RestoreFiles = { readonly folder: string; readonly identity: string; readonly erased: string };

/**
 * Creates a new vault from a backup. Returns what was erased after the backup was made. Throws Failure if the backup
 * cannot be restored, or if a signal interrupts the restore.
 */
export function runRestore(
  config: Config,
  files: RestoreFiles,
  acceptsOlderLog: boolean,
  onPhase: OnPhase,
): Promise<Erased> {
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
): Promise<Erased> {
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
      `${erasedPath} is older than the backup. Set --erased to the newest list of erased keys: the one in the newest ` +
        'backup, or the newest one that `strongroom backup --erased-only` wrote.',
    );
  }
  // Threat: a list that was written while the backup was made is newer than `made_at`, but lacks keys that were erased
  // before the backup ended. The backup's own list contains them.
  const own = await readErasedList(join(folder, erasedFile));
  return withRootKeys(config, 'restore', async (rootKeys) => {
    onPhase('checking the keys of the backup');
    const verified = await verify(config, { folder, identity, manifest, erased, own, erasedPath, rootKeys });
    const input = await openImport(join(folder, keysFile), identity);
    try {
      const files = manifest.files.map(({ name }) => name).filter((name) => ![keysFile, erasedFile].includes(name));
      return await restoreStores({
        config,
        rootKeys,
        folder,
        files,
        ...verified,
        onPhase,
        signal,
        keyLines: untilAborted(textOf(input.chunks), signal),
        expectAccepted: (found) => expectAccepted(found, manifest, acceptsOlderLog),
      });
    } finally {
      input.stop();
    }
  });
}

type Verifying = {
  readonly folder: string;
  readonly identity: string;
  readonly manifest: Manifest;
  readonly erased: ErasedList;
  /** The list in the backup. */
  readonly own: ErasedList;
  readonly erasedPath: string;
  readonly rootKeys: readonly Buffer[];
};

/**
 * What must stay erased. `erased` contains the keys in the given list and in the backup's own list, and all keys of
 * `erasedTenants`. These are the tenants whose identity keys are all in the lists (see `identityKeyOf`).
 */
type Verified = { readonly erased: ErasedKeys; readonly erasedTenants: ReadonlySet<string> };

/**
 * Verifies the backup before anything is written. Reads the keys first, because one of them authenticates the manifest
 * and the list of erased keys. Throws Failure if the verification fails.
 */
async function verify(
  config: Config,
  { folder, identity, manifest, erased, own, erasedPath, rootKeys }: Verifying,
): Promise<Verified> {
  const input = await openImport(join(folder, keysFile), identity);
  try {
    const { macKey, tenants } = await readBackupKeys(config, textOf(input.chunks), rootKeys);
    expectAuthentic(manifest, macKey);
    for (const list of [erased, own]) list.expectAuthentic(macKey);
    const isErased = (keyId: string) => erased.ids.has(keyId) || own.ids.has(keyId);
    return withErasedTenants(tenants, { ids: { has: isErased }, madeAt: erased.madeAt }, erasedPath);
  } finally {
    input.stop();
  }
}

/**
 * Adds the erased tenants and all their keys to the erased keys. Throws Failure if the list contains a wrapping key of a tenant
 * that was not deleted. A list omits such a key even if a rotation replaced it, so that the data that the key still
 * wraps in an older backup can be restored. Without this check, the restore would succeed, but nothing could decrypt the
 * tenant's tokens.
 */
function withErasedTenants(
  tenants: ReadonlyMap<string, TenantKeyIds>,
  { ids, madeAt }: ErasedKeys,
  erasedPath: string,
): Verified {
  const isErased = (keyId: string) => ids.has(keyId);
  const erasedTenants = new Set<string>();
  const keysOfErased = new Set<string>();
  let unreadable = 0;
  for (const [tenantId, { identity, wrapping }] of tenants) {
    // The vault itself has keys too, but no identity key.
    if (identity.length === 0) continue;
    if (identity.every(isErased)) {
      erasedTenants.add(tenantId);
      for (const keyId of wrapping) keysOfErased.add(keyId);
    } else if (wrapping.some(isErased)) unreadable += 1;
  }
  if (unreadable > 0) {
    throw new Failure(
      `${erasedPath} contains keys that a rotation replaced after this backup was made. With this list, the tokens of ` +
        `${counted(unreadable, 'tenant')} in this backup could not be read. Nothing was changed. Use a backup that was ` +
        'made after the rotation, with the current root key.',
    );
  }
  return { erased: { ids: { has: (keyId) => ids.has(keyId) || keysOfErased.has(keyId) }, madeAt }, erasedTenants };
}

/**
 * Accepts an older log that the operator restored without a backup folder. Returns what was erased after that log
 * was copied. Throws Failure if the log cannot be accepted.
 */
export function runAccept(config: Config): Promise<Erased> {
  return withRootKeys(config, 'opening', (rootKeys) => acceptOlderLog(config, rootKeys));
}

function expectAccepted(found: Erased, { profile, made_at }: Manifest, acceptsOlderLog: boolean): void {
  const { tenants, tokens, cvcs } = countsOf(found);
  if (tenants + tokens + cvcs === 0 || acceptsOlderLog) return;
  const erased = [
    ...(tenants === 0 ? [] : [`${counted(tenants, 'tenant was', 'tenants were')} deleted with all tokens`]),
    ...(tokens === 0 ? [] : [`${counted(tokens, 'token was', 'tokens were')} deleted or had data replaced`]),
    ...(cvcs === 0 ? [] : [`${counted(cvcs, 'card')} lost only the verification code`]),
  ];
  // In the cluster profile, a backup contains no log.
  const log = profile === 'cluster' ? 'the log in EventStoreDB' : `the log in this backup, from ${made_at},`;
  throw new Failure(
    `${log} is older than the list of erased keys: since then, ${erased.join('; ')}. What was erased cannot be ` +
      'restored. Add --accept-older-log to record this and to restore everything else. Nothing was changed.',
    3,
  );
}

/**
 * Returns how many tenants and tokens were erased, and how many tokens lost only their verification code (cvc). The
 * tokens of an erased tenant are not counted.
 */
export function countsOf({ tenants, tokens }: Erased): Record<'tenants' | 'tokens' | 'cvcs', number> {
  const cvcs = tokens.filter(({ what }) => what === 'cvc').length;
  return { tenants: tenants.length, tokens: tokens.length - cvcs, cvcs };
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
