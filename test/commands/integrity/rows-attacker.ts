import { join } from 'node:path';
import { type Document, MongoClient } from 'mongodb';
import { packStream } from '#src/adapters/sqlite/database/packed-text.js';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { lifeText, stateOf, type TokenRow } from '#src/adapters/sqlite/database/token-row.js';
import { changeOf } from '#src/adapters/sqlite/search-index/entries.js';
import type { TokenLife } from '#src/domain/token/token-state.js';
import type { StoredWebhookState } from '#src/ports/webhook-store.js';
import type { ClaimResult } from '#src/views/finished-claim.js';
import { termsIn } from '../../support/stored-postings.js';
import type { TestService } from '../../support/test-service.js';

type Kind = 'tenant' | 'application';

/** An earlier copy of a row. `putBack` replaces the current row with the copy. */
type Taken = { putBack(): Promise<void> };

/** An attacker who can write to the rows while the service runs, but has no keys. */
export type RowsAttacker = {
  plantKey(applicationId: string, keyId: string, hash: string): Promise<void>;
  takeRecord(kind: Kind, id: string): Promise<Taken>;
  /** Changes fields in the row of a tenant or an application. The field names are the column names in the store. */
  editRecord(kind: Kind, id: string, fields: Readonly<Record<string, unknown>>): Promise<void>;
  removeRecord(kind: Kind, id: string): Promise<void>;
  /**
   * Replaces the row of `toApplication` with an unchanged copy of the row for the tenant or application with this id.
   */
  moveRecord(kind: Kind, id: string, toApplication: string): Promise<void>;
  /**
   * Replaces the sealed document in the row of `toApplication` with the document from the row for the tenant or
   * application with this id.
   */
  copyDocument(kind: Kind, id: string, toApplication: string): Promise<void>;
  takeToken(stream: string): Promise<Taken>;
  /** Changes the plaintext state in a token's row. */
  editToken(stream: string, edit: (life: TokenLife) => TokenLife): Promise<void>;
  /** Adds all search terms of one token to another token. */
  copyTerms(fromStream: string, toStream: string): Promise<void>;
  /** Changes every idempotency claim for the first token so that it refers to the second token instead. */
  moveClaims(fromStream: string, toStream: string): Promise<void>;
  /** Changes the result in the claim that refers to this token. */
  editClaim(stream: string, edit: (result: ClaimResult) => ClaimResult): Promise<void>;
  /** Copies the result, the time and the MAC from the claim of one token into the claim of another token. */
  copyClaim(fromStream: string, toStream: string): Promise<void>;
  /** Adds a claim with the result, the time and the MAC of an existing claim. */
  plantClaim(cmd: string, like: string): Promise<void>;
  webhookState(id: string): Promise<StoredWebhookState>;
  setWebhookState(id: string, stored: StoredWebhookState): Promise<void>;
  /** Adds a generation to those that the vault writes, and marks it as the one to read if `isRead` is true. */
  plantGeneration(generation: number, isRead: boolean): Promise<void>;
  close(): Promise<void>;
};

export async function rowsAttacker(service: TestService): Promise<RowsAttacker> {
  return service.database === null ? onFiles(service.dataDir) : onMongo(service.database);
}

function onFiles(dataDir: string): RowsAttacker {
  const database = pinStatements(join(dataDir, 'vault.db'), {});
  const changeOne = (sql: string, ...values: unknown[]): void => {
    if (database.prepare(sql).run(...values).changes < 1) throw new Error('the attack changed nothing');
  };
  const rowOf = (table: string, where: string, ...values: unknown[]): Record<string, unknown> => {
    const row = database.prepare(`SELECT * FROM ${table} WHERE ${where}`).get(...values);
    if (row === undefined) throw new Error('there is no such row');
    return row as Record<string, unknown>;
  };
  const replace = (table: string, row: Record<string, unknown>): void => {
    const names = Object.keys(row);
    changeOne(`REPLACE INTO ${table} (${names.join()}) VALUES (${names.map((name) => `@${name}`).join()})`, row);
  };
  return {
    async plantKey(applicationId, keyId, hash) {
      changeOne('INSERT INTO api_keys (hash, id, application) VALUES (?, ?, ?)', hash, keyId, applicationId);
    },
    async takeRecord(kind, id) {
      const row = rowOf('directory', 'kind = ? AND id = ?', kind, id);
      const keys = database.prepare('SELECT * FROM api_keys WHERE application = ?').all(id) as Record<
        string,
        unknown
      >[];
      return {
        async putBack() {
          replace('directory', row);
          database.prepare('DELETE FROM api_keys WHERE application = ?').run(id);
          for (const key of keys) replace('api_keys', key);
        },
      };
    },
    async editRecord(kind, id, fields) {
      replace('directory', { ...rowOf('directory', 'kind = ? AND id = ?', kind, id), ...fields });
    },
    async removeRecord(kind, id) {
      changeOne('DELETE FROM directory WHERE kind = ? AND id = ?', kind, id);
    },
    async moveRecord(kind, id, toApplication) {
      const row = rowOf('directory', 'kind = ? AND id = ?', kind, id);
      changeOne('DELETE FROM api_keys WHERE application = ?', toApplication);
      if (kind === 'application')
        changeOne('UPDATE api_keys SET application = ? WHERE application = ?', toApplication, id);
      replace('directory', { ...row, kind: 'application', id: toApplication });
    },
    async copyDocument(kind, id, toApplication) {
      const { content, content_revision } = rowOf('directory', 'kind = ? AND id = ?', kind, id);
      const row = rowOf('directory', "kind = 'application' AND id = ?", toApplication);
      replace('directory', { ...row, content, content_revision });
    },
    async takeToken(stream) {
      const row = rowOf('token_rows_1', 'stream = ?', packStream(stream));
      return { putBack: async () => replace('token_rows_1', row) };
    },
    async editToken(stream, edit) {
      const row = rowOf('token_rows_1', 'stream = ?', packStream(stream));
      const { life: before } = stateOf(row as TokenRow);
      if (before === null) throw new Error('the token is gone');
      const life = edit(before);
      replace('token_rows_1', {
        ...row,
        tenant: life.tenantId,
        type: life.tokenType,
        life: lifeText(life),
        created_at: life.createdAt,
        modified_at: life.modifiedAt,
        expires_at: life.expiresAt,
        cvc_purge_at: life.cvc?.purgeAt ?? null,
      });
    },
    async copyTerms(fromStream, toStream) {
      const [from, to] = [fromStream, toStream].map((stream) =>
        rowOf('token_rows_1', 'stream = ?', packStream(stream)),
      );
      const own = termsIn(to?.['terms'] as Buffer);
      const added = termsIn(from?.['terms'] as Buffer).filter((term) => !own.includes(term));
      const newest = 'SELECT max(merged, ifnull((SELECT max(number) FROM index_changes_1), 0)) FROM index_state_1';
      changeOne(
        `INSERT INTO index_changes_1 (number, seq, added) VALUES (? + (${newest}), ?, ?)`,
        added.length,
        to?.['seq'],
        changeOf(Buffer.from(added.join(''), 'hex'), Number(to?.['seq'])),
      );
    },
    async moveClaims(fromStream, toStream) {
      changeOne('UPDATE claims SET result = replace(result, ?, ?)', fromStream, toStream);
    },
    async editClaim(stream, edit) {
      const { cmd, result } = rowOf('claims', 'instr(result, ?) > 0', stream);
      changeOne('UPDATE claims SET result = ? WHERE cmd = ?', JSON.stringify(edit(JSON.parse(String(result)))), cmd);
    },
    async copyClaim(fromStream, toStream) {
      const { cmd: _, ...claim } = rowOf('claims', 'instr(result, ?) > 0', fromStream);
      replace('claims', { ...rowOf('claims', 'instr(result, ?) > 0', toStream), ...claim });
    },
    async plantClaim(cmd, like) {
      replace('claims', { ...rowOf('claims', 'cmd = ?', like), cmd });
    },
    async webhookState(id) {
      const { version, state } = rowOf('webhook_states', 'webhook = ?', id);
      return { version: Number(version), text: String(state) };
    },
    async setWebhookState(id, { version, text }) {
      changeOne('UPDATE webhook_states SET version = ?, state = ? WHERE webhook = ?', version, text, id);
    },
    async plantGeneration(generation, isRead) {
      changeOne('INSERT INTO generations VALUES (?, 0, ?)', generation, isRead ? 'read' : 'building');
    },
    close: async () => void database.close(),
  };
}

async function onMongo(name: string): Promise<RowsAttacker> {
  const url = process.env['STRONGROOM_TEST_MONGODB_URL'] ?? 'mongodb://127.0.0.1:27117/?replicaSet=rs0';
  const client = await MongoClient.connect(url, { promoteBuffers: true });
  const directory = client.db(name).collection<Document & { _id: string }>('directory');
  const tokens = client.db(name).collection<Document & { _id: string }>('token_rows_1');
  const claims = client.db(name).collection<Document & { _id: string }>('claims');
  const states = client.db(name).collection<Document & { _id: string }>('webhook_states');
  const take = async (rows: typeof tokens, _id: string): Promise<Taken> => {
    const row = await rows.findOne({ _id });
    if (row === null) throw new Error('there is no such row');
    return { putBack: async () => void (await rows.replaceOne({ _id }, row, { upsert: true })) };
  };
  return {
    async plantKey(applicationId, id, hash) {
      const planted = { $push: { keys: { id, hash } } } as object;
      const { modifiedCount } = await directory.updateOne({ _id: `application-${applicationId}` }, planted);
      if (modifiedCount !== 1) throw new Error('the attack changed nothing');
    },
    takeRecord: (kind, id) => take(directory, `${kind}-${id}`),
    async editRecord(kind, id, fields) {
      await directory.updateOne({ _id: `${kind}-${id}` }, { $set: fields });
    },
    async removeRecord(kind, id) {
      const { deletedCount } = await directory.deleteOne({ _id: `${kind}-${id}` });
      if (deletedCount !== 1) throw new Error('the attack changed nothing');
    },
    async moveRecord(kind, id, toApplication) {
      const { _id: _, ...row } = (await directory.findOneAndDelete({ _id: `${kind}-${id}` })) ?? {};
      const { matchedCount } = await directory.replaceOne({ _id: `application-${toApplication}` }, row);
      if (matchedCount !== 1) throw new Error('the attack changed nothing');
    },
    async copyDocument(kind, id, toApplication) {
      const row = await directory.findOne({ _id: `${kind}-${id}` });
      if (row === null) throw new Error('there is no such row');
      const copied = { content: row['content'], content_revision: row['content_revision'] };
      await directory.updateOne({ _id: `application-${toApplication}` }, { $set: copied });
    },
    takeToken: (stream) => take(tokens, stream),
    async editToken(stream, edit) {
      const row: Document | null = await tokens.findOne({ _id: stream });
      const life: TokenLife = edit(row?.['life']);
      const { expires_at: _, cvc_purge_at: __, ...rest } = row ?? {};
      const times = {
        ...(life.expiresAt === null ? {} : { expires_at: life.expiresAt }),
        ...(life.cvc === null ? {} : { cvc_purge_at: life.cvc.purgeAt }),
      };
      await tokens.replaceOne({ _id: stream }, { ...rest, ...times, life });
    },
    async copyTerms(fromStream, toStream) {
      const from = await tokens.findOne({ _id: fromStream });
      const added = { $addToSet: { terms: { $each: from?.['terms'] } } } as object;
      await tokens.updateOne({ _id: toStream }, added);
    },
    async moveClaims(fromStream, toStream) {
      const { modifiedCount } = await claims.updateOne(
        { 'result.tokens.stream': fromStream },
        { $set: { 'result.tokens.$.stream': toStream } },
      );
      if (modifiedCount !== 1) throw new Error('the attack changed nothing');
    },
    async editClaim(stream, edit) {
      const claim = await claims.findOne({ 'result.tokens.stream': stream });
      if (claim === null) throw new Error('there is no such claim');
      await claims.updateOne({ _id: claim._id }, { $set: { result: edit(claim['result']) } });
    },
    async copyClaim(fromStream, toStream) {
      const from = await claims.findOne({ 'result.tokens.stream': fromStream });
      if (from === null) throw new Error('there is no such claim');
      const { _id: __, ...claim } = from;
      const { matchedCount } = await claims.replaceOne({ 'result.tokens.stream': toStream }, claim);
      if (matchedCount !== 1) throw new Error('the attack changed nothing');
    },
    async plantClaim(cmd, like) {
      await claims.insertOne({ ...(await claims.findOne({ _id: like })), _id: cmd });
    },
    async webhookState(id) {
      const row = await states.findOne({ _id: id });
      return { version: Number(row?.['version']), text: String(row?.['state']) };
    },
    async setWebhookState(id, { version, text }) {
      const { matchedCount } = await states.updateOne({ _id: id }, { $set: { version, state: text } });
      if (matchedCount !== 1) throw new Error('the attack changed nothing');
    },
    async plantGeneration(generation, isRead) {
      const generations = client.db(name).collection('generations');
      const { modifiedCount } = await generations.updateOne({}, {
        $push: { write: generation },
        ...(isRead ? { $set: { read: generation } } : {}),
      } as object);
      if (modifiedCount !== 1) throw new Error('the attack changed nothing');
    },
    close: () => client.close(),
  };
}
