import { soleMember } from './cluster-member.mjs';
import { createEventStore } from './event-store.mjs';
import { serve } from './serve.mjs';

/** A stand-in in this process, for one service that is tested by what it answers: its events end with it. */
export async function serveInMemory() {
  const journal = { recovered: [], write: async () => undefined };
  return serve(soleMember(await createEventStore(journal, { knowsRepeats: true })), 0, null);
}
