import type { Document } from 'mongodb';
import type { DerivedKind, ErasureProbe, Looked } from '../../ports/erasure-probe.js';
import type { MongoConnection } from './connection.js';
import { tokenRowsCollections } from './token-rows/token-rows-indexes.js';
import { fingerprintsCollection } from './work-indexes.js';

/** For each kind of trace, the row fields that contain it. In a tombstone, all of these fields are empty. */
const fieldsOf: Readonly<Record<DerivedKind, readonly string[]>> = {
  row: ['life', 'type', 'created_at', 'modified_at', 'content', 'cvc'],
  search_term: ['terms', 'seq', 'mark'],
  fingerprint: ['fingerprint'],
  deadline: ['expires_at', 'cvc_purge_at'],
};

/**
 * Implements `ErasureProbe` on MongoDB. Checks the row and the search terms of the stream in every generation, and the
 * fingerprint claims of the stream.
 */
export function mongoErasureProbe({ call }: MongoConnection): ErasureProbe {
  return {
    async of({ stream }) {
      const looked: Looked[] = [];
      for (const store of [...(await call(tokenRowsCollections))].sort()) {
        const row = await call((db) => db.collection<Document & { _id: string }>(store).findOne({ _id: stream }));
        for (const [kind, fields] of Object.entries(fieldsOf)) {
          const isLeft = row !== null && fields.some((field) => row[field] != null);
          looked.push({ kind: kind as DerivedKind, store, looked: row === null ? 0 : 1, found: isLeft ? 1 : 0 });
        }
      }
      const found = await call((db) =>
        db.collection(fingerprintsCollection).countDocuments({ 'intent.stream': stream }, { hint: 'stream' }),
      );
      return [...looked, { kind: 'fingerprint', store: fingerprintsCollection, looked: found, found }];
    },
  };
}
