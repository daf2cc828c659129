import { z } from 'zod';
import { lengthPrefixed } from '../events/sealing/length-prefixed.js';
import type { SigningKey } from '../keys/key-ring.js';
import { keyName } from './make-checkpoint.js';

const whole = z.int().min(0);

export const unsignedManifest = z.object({
  strongroom_bundle: z.literal(1),
  log_id: z.string(),
  tenant_id: z.string(),
  made_at: z.string(),
  /**
   * The scope of the bundle: either a period or a set of tokens. For a set of tokens, the manifest contains only their
   * number.
   */
  scope: z.union([
    z.object({ kind: z.literal('tokens'), tokens: whole }),
    z.object({ kind: z.literal('period'), from: z.string(), to: z.string() }),
  ]),
  /** The number of the newest checkpoint in the bundle. */
  checkpoint: whole,
  events: whole,
  reads: whole,
  erasures: whole,
  files: z.array(z.object({ name: z.string(), bytes: whole, sha256: z.string().regex(/^[0-9a-f]{64}$/) })),
  signed_by: z.string(),
});

/**
 * A bundle's manifest. It lists the bundle's files with their hashes, and is signed with the key that also signs
 * checkpoints.
 */
export type BundleManifest = z.output<typeof unsignedManifest> & { readonly signature: string };
export type ManifestFacts = Omit<z.output<typeof unsignedManifest>, 'signed_by'>;

export function signBundle(key: SigningKey, facts: ManifestFacts): BundleManifest {
  const manifest = unsignedManifest.parse({ ...facts, signed_by: keyName(key.publicKey) });
  const signed = lengthPrefixed(['strongroom.bundle.1', JSON.stringify(manifest)]);
  return { ...manifest, signature: key.sign(signed).toString('base64') };
}
