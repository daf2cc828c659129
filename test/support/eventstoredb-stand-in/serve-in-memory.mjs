import { serve } from './serve.mjs';

/** A stand-in in this process, for one service that is tested by what it answers: its events end with it. */
export function serveInMemory() {
  const journal = { recovered: [], write: async () => undefined };
  return serve(journal, 0, { knowsRepeats: true });
}
