import { MongoBulkWriteError, MongoServerError } from 'mongodb';
import { expect, test } from 'vitest';
import { mongoError } from '#src/adapters/mongodb/mongo-error.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';

/**
 * The driver threw these errors when a server was killed in the middle of a write. The vault cannot find out whether
 * the write succeeded, so the response is 503.
 */
test('every kind of broken connection during a write is reported as an unavailable store', () => {
  const broken = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
  expect(mongoError(broken)).toBeInstanceOf(StoreUnavailable);
  const batch: MongoServerError = Object.create(MongoBulkWriteError.prototype, {
    code: { value: 'EPIPE' },
    writeErrors: { value: [] },
  });
  expect(mongoError(batch)).toBeInstanceOf(StoreUnavailable);
  const other = mongoError(new MongoServerError({ message: 'not authorized', code: 13 }));
  expect(other).not.toBeInstanceOf(StoreUnavailable);
  expect(mongoError(Object.assign(new Error('no such file'), { code: 'ENOENT' }))).not.toBeInstanceOf(StoreUnavailable);
});
