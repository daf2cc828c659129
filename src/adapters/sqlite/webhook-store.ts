import type { StoredWebhookState, WebhookStore } from '../../ports/webhook-store.js';
import type { SqliteDatabase } from './database/open-database.js';
import { reading } from './database/reading.js';
import type { Writer } from './writer/writer.js';

/** Implements `WebhookStore` on `vault.db`. */
export function sqliteWebhookStore(database: SqliteDatabase, writer: Writer): WebhookStore {
  const find = database.prepare('SELECT version, state AS text FROM webhook_states WHERE webhook = ?');
  const findId = database.prepare('SELECT sealed FROM webhook_ids WHERE webhook = ? AND event = ?').pluck();
  return {
    async state(webhookId) {
      return (reading(() => find.get(webhookId)) as StoredWebhookState | undefined) ?? null;
    },
    save: (webhookId, version, text, delivered) =>
      writer.request('save_webhook', { webhookId, version, text, delivered }),
    async remove(webhookId) {
      while (!(await writer.request('remove_webhook', { webhookId })));
    },
    async keepIds(ids) {
      await writer.request('keep_webhook_ids', ids);
    },
    async sealedIds(webhookId, eventIds) {
      return reading(
        () =>
          new Map(
            eventIds.flatMap((eventId): [string, Uint8Array][] => {
              const sealed = findId.get(webhookId, eventId) as Buffer | undefined;
              return sealed === undefined ? [] : [[eventId, sealed]];
            }),
          ),
      );
    },
    async forgetIds(notBefore, markedBefore) {
      while (!(await writer.request('forget_webhook_ids', { notBefore, markedBefore })));
    },
  };
}
