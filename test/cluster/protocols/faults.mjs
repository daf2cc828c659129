import { keyCollections } from '#src/adapters/mongodb/key-store/key-collections.js';
import { uuidBytes, uuidText } from '#src/adapters/mongodb/uuid.js';
import { keysOf } from '#src/domain/token/token-state.js';
import { isAuthenticToken } from '#src/views/row-mac.js';
import { applyToView, emptyView } from '#src/views/token-view.js';

const text = (value) => JSON.stringify(value, (_, one) => (one instanceof Uint8Array ? [...one] : one));

/**
 * Returns a description of every row or key that does not match its stream, and of every fingerprint that two live
 * tokens share.
 */
export async function faultsOf({ log, rows, rowsConnection, keysConnection, keys: keyRing }) {
  const faults = [];
  const { rows: rowsKey } = await keyRing.integrityKeys();
  const views = new Map();
  for (const event of await log.readAll(0, 1_000_000)) {
    const { stream, tenantId } = event;
    if (stream.startsWith('token-')) {
      views.set(stream, applyToView(views.get(stream) ?? emptyView(stream, tenantId), event));
    }
  }
  const keys = await keyCollections.dataKeys(keysConnection.db).find({}).toArray();
  const wrapped = new Map(keys.map((key) => [uuidText(key._id), key.wrapped]));
  for (const [stream, view] of views) {
    const { life, revision, ended } = view.state;
    const stored = await rows.get(stream);
    if (stored !== null && !isAuthenticToken(rowsKey, stored)) faults.push(`row of ${stream} that is not authentic`);
    const { mac: _, ...row } = stored ?? {};
    const expected = { ...view, state: { revision, life, ended: [] } };
    if (text(row) !== text(expected)) faults.push(`row ${text(row)} of ${text(expected)}`);
    for (const { keyId } of ended) if (wrapped.get(keyId) !== null) faults.push(`living key of ${stream}`);
    for (const key of life === null ? [] : keysOf(life)) if (!wrapped.get(key)) faults.push(`lost key of ${stream}`);
  }
  const doubled = [{ $group: { _id: '$fingerprint', count: { $sum: 1 } } }, { $match: { count: { $gt: 1 } } }];
  const living = [{ $match: { life: { $ne: null } } }, ...doubled];
  const twice = await rowsConnection.db.collection('token_rows_1').aggregate(living).toArray();
  return [...faults, ...twice.map(({ count }) => `${count} living tokens have one fingerprint`)];
}

/**
 * Returns the types of a token's events. `livingKeys` counts the keys that these events mark for destruction but that
 * can still be unwrapped.
 */
export async function storyOf({ log, keysConnection }, stream) {
  const events = await log.readStream(stream);
  const { ended } = events.reduce(applyToView, emptyView(stream, '')).state;
  const _id = { $in: ended.map(({ keyId }) => uuidBytes(keyId)) };
  const livingKeys = await keyCollections.dataKeys(keysConnection.db).countDocuments({ _id, wrapped: { $ne: null } });
  return { types: events.map(({ type }) => type), livingKeys };
}
