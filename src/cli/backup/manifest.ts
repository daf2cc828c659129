import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../failure.js';
import { unreadable } from '../file-fault.js';
import { jsonOrNull } from '../files/json-or-null.js';
import { isBackupMac } from '../maintenance/maintenance-operations.js';

export const manifestFile = 'manifest.json';
export const erasedFile = 'erased-keys.txt';

const shape = z.object({
  format: z.literal('strongroom backup 2'),
  profile: z.enum(['embedded', 'cluster']),
  log_id: z.string(),
  /** The time when the backup began. */
  made_at: z.iso.datetime(),
  files: z.array(z.object({ name: z.string(), sha256: z.string() })),
  /** The MAC of all fields above, in hex. */
  mac: z.string().regex(/^[0-9a-f]{64}$/),
});

export type Manifest = z.infer<typeof shape>;

/** Returns the text covered by a manifest's MAC. */
export function authenticatedText({ format, profile, log_id, made_at, files }: Omit<Manifest, 'mac'>): string {
  const hashes = files.map(({ name, sha256 }) => [name, sha256]);
  return JSON.stringify([format, profile, log_id, made_at, hashes]);
}

/** Throws Failure if the manifest was not written by a vault with this key. */
export function expectAuthentic(manifest: Manifest, key: Uint8Array): void {
  if (isBackupMac(manifest.mac, key, 'manifest', authenticatedText(manifest))) return;
  throw new Failure(
    `${manifestFile} was changed after the backup was made, or belongs to other keys. Nothing was changed. Use ` +
      'another backup.',
  );
}

/** Returns the SHA-256 of a file in hex. Rejects if the file cannot be read, or if `signal` is aborted. */
export async function sha256Of(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { signal })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/**
 * Reads a backup's manifest and checks the hash of every file in the backup. Throws Failure if the manifest or a file
 * is damaged.
 */
export async function readManifest(folder: string, signal: AbortSignal): Promise<Manifest> {
  const path = join(folder, manifestFile);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw unreadable(path, error);
    throw new Failure(`${folder} is not a complete backup: it has no ${manifestFile}. Use another backup.`);
  });
  const parsed = shape.safeParse(jsonOrNull(text));
  if (!parsed.success)
    throw new Failure(`${manifestFile} in ${folder} is damaged, or has another version. Use another backup.`);
  for (const { name, sha256 } of parsed.data.files) {
    // Threat: an attacker changes a name in the manifest so that it points to a file outside the folder.
    const isName = name === basename(name);
    const found = isName ? await sha256Of(join(folder, name), signal).catch(() => null) : null;
    signal.throwIfAborted();
    if (found === null)
      throw new Failure(`${name} in ${folder} is missing or unreadable. Nothing was changed. Use another backup.`);
    if (found !== sha256)
      throw new Failure(`${name} in ${folder} is damaged. Nothing was changed. Use another backup.`);
  }
  return parsed.data;
}
