import { type PendingTrace, sealPending, sealTogether, type TracePlace } from '../sealing/trace-ciphertext.js';
import type { AccessEntry, NewAccessEntry } from './access-entry.js';
import { base64, groupsOf, lineOf, type TraceField } from './batch-hash.js';

/** Each encrypted trace is bound to a location. This is the location for traces that do not belong to an event. */
export const accessTracePlace = { stream: 'access-log', revision: 0 } as const;

/** Encrypts the traces of entries. Entries of one request share a ciphertext, which contains no other trace. */
export function sealEntries(entries: readonly NewAccessEntry[]): AccessEntry[] {
  const sealed = new Map<PendingTrace, Uint8Array>();
  return entries.map((entry) => {
    const { tenantId, trace: pending } = entry;
    if (!isPending(pending)) return { ...entry, trace: pending, traceIndex: null };
    const trace = sealed.get(pending) ?? sealPending(pending, { tenantId, ...accessTracePlace });
    sealed.set(pending, trace);
    return { ...entry, trace, traceIndex: null };
  });
}

/**
 * Encrypts the traces of entries, with one ciphertext for all requests of a tenant, and returns the lines of the
 * entries (`linesOf`). The lines are ordered by tenant. The entries of a tenant keep their order.
 */
export function sealedLines(entries: readonly NewAccessEntry[]): string[] {
  const byTenant = new Map<string, NewAccessEntry[]>();
  for (const entry of entries) {
    const ofTenant = byTenant.get(entry.tenantId);
    if (ofTenant === undefined) byTenant.set(entry.tenantId, [entry]);
    else ofTenant.push(entry);
  }
  return [...byTenant].flatMap(([tenantId, ofTenant]) => linesOfTenant(tenantId, ofTenant));
}

function linesOfTenant(tenantId: string, entries: readonly NewAccessEntry[]): string[] {
  const groups = groupsOf(entries);
  const pending = groups.map(([{ trace }]) => trace).filter(isPending);
  const fieldOf = traceFields(pending, { tenantId, ...accessTracePlace });
  return groups.map((group) => {
    const [{ trace }] = group;
    if (trace === null) return lineOf(group, null);
    return lineOf(group, isPending(trace) ? fieldOf(trace) : base64(trace));
  });
}

/** Encrypts traces. Returns a function that returns the trace in each line. Call it for the lines in their order. */
function traceFields(traces: readonly PendingTrace[], place: TracePlace): (trace: PendingTrace) => TraceField {
  const [first, ...others] = new Set(traces);
  // An epoch has so many traces that the traces of two epochs, which have different keys, almost never meet here.
  if (first === undefined || others.some(({ key }) => key !== first.key)) {
    return (trace) => base64(sealPending(trace, place));
  }
  if (others.length === 0) {
    const box = base64(sealPending(first, place));
    return () => box;
  }
  const together = [first, ...others] as const;
  const indexes = new Map(together.map((trace, index) => [trace, index]));
  let box: string | null = base64(sealTogether(together, place));
  return (trace) => {
    const index = indexes.get(trace) ?? 0;
    const field = box === null ? index : ([box, index] as const);
    box = null;
    return field;
  };
}

function isPending(trace: NewAccessEntry['trace']): trace is PendingTrace {
  return trace !== null && !(trace instanceof Uint8Array);
}
