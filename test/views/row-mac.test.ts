import { expect, test } from 'vitest';
import type { DirectoryRecord } from '#src/views/directory-view.js';
import type { FinishedClaim } from '#src/views/finished-claim.js';
import {
  isAuthenticClaim,
  isAuthenticRecord,
  isAuthenticToken,
  withClaimMac,
  withDirectoryMac,
  withTokenMac,
} from '#src/views/row-mac.js';
import type { TokenView } from '#src/views/token-view.js';

const key = Buffer.alloc(32, 7);

const token: TokenView = {
  stream: 'token-a',
  tenantId: 'tenant-a',
  state: {
    revision: 5,
    life: {
      tenantId: 'tenant-a',
      tokenType: 'card',
      createdRevision: 1,
      createdPosition: 10,
      createdAt: 1_000,
      createdBy: 'creator',
      modifiedAt: 2_000,
      modifiedBy: null,
      expiresAt: null,
      key: 'key-a',
      contentRevision: 2,
      superseded: ['key-b'],
      cvc: { key: 'key-c', revision: 3, purgeAt: 3_000 },
    },
    ended: [{ keyId: 'key-d', eventId: 'event' }],
  },
  content: Buffer.from('content'),
  cvc: Buffer.from('cvc'),
};

const record: DirectoryRecord = {
  kind: 'application',
  id: 'application-a',
  tenantId: 'tenant-a',
  applicationType: 'private',
  revision: 5,
  createdRevision: 1,
  contentRevision: 2,
  content: Buffer.from('content'),
  keys: [{ id: 'key-a', hash: 'hash-a' }],
  removedAt: null,
};

const claim: FinishedClaim = {
  cmd: 'request-a',
  time: 1_000,
  result: {
    tokens: [{ stream: 'token-a', createdRevision: 1, carriedContent: 2, deduplicated: false, cvcIgnored: false }],
    application: { id: 'application-a', keyId: 'key-a' },
    webhookId: 'webhook-a',
  },
};

/** Returns copies of a value, each with one change to a text, number, flag, null or byte string, and the path to it. */
function changesOf(value: unknown, path = ''): readonly { readonly path: string; readonly changed: unknown }[] {
  if (value instanceof Uint8Array) {
    const changed = Buffer.from(value);
    changed.writeUInt8(changed.readUInt8(changed.length - 1) ^ 1, changed.length - 1);
    return [{ path, changed }];
  }
  if (Array.isArray(value)) {
    return value.flatMap((item, index) =>
      changesOf(item, `${path}[${index}]`).map((change) => ({ ...change, changed: value.with(index, change.changed) })),
    );
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([name, field]) =>
      changesOf(field, `${path}.${name}`).map((change) => ({
        ...change,
        changed: { ...value, [name]: change.changed },
      })),
    );
  }
  if (typeof value === 'string') return [{ path, changed: `${value}x` }];
  if (typeof value === 'boolean') return [{ path, changed: !value }];
  return [{ path, changed: Number(value) + 1 }];
}

/** Returns the paths of the changes that are accepted. */
function accepted<T>(stored: T, isAuthentic: (stored: T) => boolean): readonly string[] {
  expect(isAuthentic(stored)).toBe(true);
  return changesOf(stored)
    .filter(({ changed }) => isAuthentic(changed as T))
    .map(({ path }) => path);
}

/** Threat: an attacker who can write the rows changes a fact that access depends on, or guesses a part of a MAC. */
test('no change of a row or of its MAC is accepted', () => {
  expect(accepted(withDirectoryMac(key, record), (stored) => isAuthenticRecord(key, stored))).toEqual([]);
  expect(accepted(withClaimMac(key, claim), (stored) => isAuthenticClaim(key, stored))).toEqual([]);
  // Nothing that a caller may see depends on these. No row contains `ended`.
  const harmless = ['.state.life.createdPosition', '.state.ended[0].keyId', '.state.ended[0].eventId'];
  const ofToken = { ...withTokenMac(key, token) };
  expect(accepted(ofToken, (stored) => isAuthenticToken(key, stored))).toEqual(harmless);
});
