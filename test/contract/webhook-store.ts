import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { SealedTokenId, WebhookStore } from '#src/ports/webhook-store.js';

type Open = () => Promise<{ readonly webhooks: WebhookStore; readonly close: () => Promise<void> }>;

/** Defines the tests that every adapter for `WebhookStore` must pass. */
export function webhookStoreContract(name: string, open: Open): void {
  const on = (run: (webhooks: WebhookStore) => Promise<void>) => async () => {
    const { webhooks, close } = await open();
    try {
      await run(webhooks);
    } finally {
      await close();
    }
  };

  describe(`WebhookStore: ${name}`, () => {
    test(
      'a state is replaced only if it still has the version that was read',
      on(async (webhooks) => {
        const id = randomUUID();
        expect(await webhooks.state(id)).toBeNull();
        expect(await webhooks.save(id, 1, 'at 1', [])).toBe(false);
        expect(await webhooks.save(id, 0, 'at 5', [])).toBe(true);
        expect(await webhooks.save(id, 0, 'at 6', []), 'another process got there first').toBe(false);
        expect(await webhooks.state(id)).toEqual({ version: 1, text: 'at 5' });
        const both = [webhooks.save(id, 1, 'at 7', []), webhooks.save(id, 1, 'at 8', [])];
        expect((await Promise.all(both)).sort()).toEqual([false, true]);
        expect((await webhooks.state(id))?.version).toBe(2);
      }),
    );

    test(
      'a sealed id is kept until its event is delivered, and a save that lost a race does not remove the id',
      on(async (webhooks) => {
        const webhookId = randomUUID();
        const [one, other] = [sealedId(webhookId), sealedId(webhookId)];
        await webhooks.keepIds([one, other]);
        expect(await webhooks.save(webhookId, 3, 'at 1', [one.eventId])).toBe(false);
        expect(await bytes(webhooks, webhookId, [one, other])).toEqual([hex(one), hex(other)]);
        expect(await webhooks.save(webhookId, 0, 'at 1', [one.eventId])).toBe(true);
        expect(await bytes(webhooks, webhookId, [one, other])).toEqual([undefined, hex(other)]);
        expect(await bytes(webhooks, randomUUID(), [other]), 'another webhook').toEqual([undefined]);
      }),
    );

    test(
      'an old sealed id is first emptied and later removed',
      on(async (webhooks) => {
        const webhookId = randomUUID();
        const ids = [sealedId(webhookId, 1_000), sealedId(webhookId, 2_000), sealedId(webhookId, 3_000)];
        await webhooks.keepIds(ids);
        await webhooks.forgetIds(3_000, 2_000);
        expect(await bytes(webhooks, webhookId, ids)).toEqual([undefined, '', hex(ids[2])]);
      }),
    );

    test(
      'when a webhook is removed, its state and its sealed ids are gone, and those of other webhooks stay',
      on(async (webhooks) => {
        const [removed, kept] = [sealedId(randomUUID()), sealedId(randomUUID())];
        await webhooks.keepIds([removed, kept]);
        for (const { webhookId } of [removed, kept]) await webhooks.save(webhookId, 0, 'at 1', []);
        await webhooks.remove(removed.webhookId);
        expect(await webhooks.state(removed.webhookId)).toBeNull();
        expect(await bytes(webhooks, removed.webhookId, [removed])).toEqual([undefined]);
        expect(await webhooks.state(kept.webhookId)).not.toBeNull();
        expect(await bytes(webhooks, kept.webhookId, [kept])).toEqual([hex(kept)]);
      }),
    );
  });
}

function sealedId(webhookId: string, at = 1_000): SealedTokenId {
  return { webhookId, eventId: randomUUID(), sealed: randomBytes(40), at };
}

function hex(id: SealedTokenId | undefined): string {
  return Buffer.from(id?.sealed ?? []).toString('hex');
}

/** Returns the stored bytes of each sealed id in hex, or undefined for an id that the store does not contain. */
async function bytes(webhooks: WebhookStore, webhookId: string, ids: readonly SealedTokenId[]) {
  const found = await webhooks.sealedIds(
    webhookId,
    ids.map(({ eventId }) => eventId),
  );
  return ids.map(({ eventId }) => {
    const sealed = found.get(eventId);
    return sealed === undefined ? undefined : Buffer.from(sealed).toString('hex');
  });
}
