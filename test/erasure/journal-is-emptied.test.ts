import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { startTestService } from '../support/test-service.js';
import { countBytes, filesOf } from './files.js';
import { aCard, create } from './support.js';

type Row = { readonly terms: Buffer; readonly fingerprint: Buffer; readonly content: Buffer };

/**
 * Returns the bytes to search for. A hashed term has 16 bytes. The rows contain these bytes as they are, and the
 * journal contains them in hex.
 */
function formsOf({ terms, fingerprint }: Row): readonly Buffer[] {
  const each = Array.from({ length: terms.length / 16 }, (_, index) => terms.subarray(index * 16, (index + 1) * 16));
  return [fingerprint, ...each].flatMap((hash) => [hash, Buffer.from(hash.toString('hex'))]);
}

/**
 * Reads a token, and returns the journal line that records this read. Throws if the line has already been moved to the
 * file of its month.
 */
async function lineInJournal(dataDir: string, read: () => Promise<unknown>): Promise<Buffer> {
  await read();
  const journal = pinStatements(join(dataDir, 'journal.db'), { readonly: true });
  const lines = journal.prepare('SELECT lines FROM batches ORDER BY sequence DESC LIMIT 1').pluck().get();
  journal.close();
  const line = String(lines ?? '')
    .split('\n')
    .at(-1);
  if (line === undefined || !line.includes('reveal')) throw new Error('the record was moved already');
  return Buffer.from(line);
}

test('within a minute of an erasure, no file contains the token’s hashed terms, and only its event contains the ciphertext', {
  timeout: 120_000,
}, async () => {
  const service = await startTestService();
  onTestFinished(() => service.close());
  const id = await create(service, { ...aCard(), metadata: { a: 'b' } });
  const database = pinStatements(join(service.dataDir, 'vault.db'), { readonly: true });
  const row = database
    .prepare('SELECT terms, fingerprint, content FROM token_rows_1 JOIN events ON position = content_at')
    .get() as Row;
  database.close();
  const read = () => service.call('GET', `/tokens/${id}`);
  const line = await vi.waitFor(() => lineInJournal(service.dataDir, read), { timeout: 30_000 });
  const where = (forms: readonly Buffer[]) =>
    filesOf(service.dataDir).flatMap(({ name, content }) =>
      forms.some((form) => content.includes(form)) ? [name] : [],
    );
  const ciphertexts = [row.content, row.content.subarray(20, 40)];
  const isOfJournal = (name: string) => name.startsWith('journal.db');
  expect(where(formsOf(row)).some(isOfJournal), 'the search must find the terms').toBe(true);
  expect(where(ciphertexts).some(isOfJournal), 'the search must find the ciphertext').toBe(true);
  expect(where([line]).some(isOfJournal), 'the search must find the access record').toBe(true);

  const deletedAt = performance.now();
  expect((await service.call('DELETE', `/tokens/${id}`)).status).toBe(204);
  await vi.waitFor(
    () => {
      expect(where(formsOf(row))).toEqual([]);
      // The event log still contains the ciphertext, but the ciphertext's key is destroyed. Neither the row nor a
      // write-ahead log contains a copy.
      expect(where(ciphertexts)).toEqual(['vault.db']);
      expect(countBytes(filesOf(service.dataDir), row.content)).toBe(1);
      expect(where([line]), 'an access record that was moved').toEqual([]);
    },
    { timeout: 70_000, interval: 1_000 },
  );
  expect(performance.now() - deletedAt).toBeLessThan(60_000);
});
