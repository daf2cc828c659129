import { type PendingTrace, sealPending, sealTogether, type TracePlace } from '../sealing/trace-ciphertext.js';
import type { AccessEntry, NewAccessEntry } from './access-entry.js';
import { groupsOf, lineWriter, type SealedTrace } from './batch-hash.js';

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
  const sealed = sealTraces(groups.map(([{ trace }]) => trace).filter(isPending), { tenantId, ...accessTracePlace });
  const lineOf = lineWriter();
  return groups.map((group) => {
    const [{ trace }] = group;
    return lineOf(group, isPending(trace) ? (sealed.get(trace) ?? noTrace) : { trace, traceIndex: null });
  });
}

const noTrace: SealedTrace = { trace: null, traceIndex: null };

/** Encrypts traces, if possible with one ciphertext. */
function sealTraces(traces: readonly PendingTrace[], place: TracePlace): ReadonlyMap<PendingTrace, SealedTrace> {
  const [first, ...others] = new Set(traces);
  if (first === undefined) return new Map();
  // An epoch has so many traces that the traces of two epochs, which have different keys, almost never meet here.
  if (others.length === 0 || others.some(({ key }) => key !== first.key)) {
    return new Map([first, ...others].map((each) => [each, { trace: sealPending(each, place), traceIndex: null }]));
  }
  const together = [first, ...others] as const;
  const trace = sealTogether(together, place);
  return new Map(together.map((each, traceIndex) => [each, { trace, traceIndex }]));
}

function isPending(trace: NewAccessEntry['trace']): trace is PendingTrace {
  return trace !== null && !(trace instanceof Uint8Array);
}
