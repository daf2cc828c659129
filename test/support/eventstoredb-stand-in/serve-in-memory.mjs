import { soleMember } from './cluster-member.mjs';
import { createEventStore } from './event-store.mjs';
import { serve } from './serve.mjs';

/** Starts a stand-in in this process. The stand-in stores its events only in memory. */
export async function serveInMemory() {
  const journal = { recovered: [], write: async () => undefined };
  return serve(soleMember(await createEventStore(journal, { knowsRepeats: true })), 0, null);
}
