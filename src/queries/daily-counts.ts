import { type TokenType, tokenTypes } from '../domain/token/types/token-type.js';
import type { CountTotal, DayCount } from '../ports/daily-counts.js';
import type { Vault } from '../vault/vault.js';

const dayMs = 86_400_000;

/** The first and the last day of a range. Each day is represented by any time on that day, in ms. */
export type DayRange = { readonly from: number; readonly to: number };

/**
 * How many tokens of each type were live at the end of a day. `day` is a date in UTC, such as `2026-01-31`. A type is
 * absent until its first token is created.
 */
export type DayOfTokens = { readonly day: string; readonly alive: Readonly<Partial<Record<TokenType, number>>> };

/** How many accesses to tokens succeeded, by operation, and how many accesses were denied or failed. */
export type DayOfAccesses = {
  readonly day: string;
  readonly operations: Readonly<Record<string, number>>;
  readonly denied: number;
  readonly failed: number;
};

/** Returns how many tokens of each type a tenant has, for each day in a range. The numbers may be a few seconds old. */
export async function dailyTokens(
  { dailyCounts }: Pick<Vault, 'dailyCounts'>,
  tenantId: string,
  range: DayRange,
): Promise<readonly DayOfTokens[]> {
  const days = daysOf(range);
  const alive = new Map<string, number>();
  const count = ({ name, what, count: more }: CountTotal): void => {
    alive.set(name, (alive.get(name) ?? 0) + (what === 'created' ? more : -more));
  };
  for (const total of await dailyCounts.totalsBefore(tenantId, 'tokens', days.first)) count(total);
  const counts = byDay(await dailyCounts.days(tenantId, 'tokens', days.first, days.last));
  return days.all.map((day) => {
    for (const one of counts.get(day) ?? []) count(one);
    const ofTypes = tokenTypes.flatMap((type) => {
      const ofType = alive.get(type);
      return ofType === undefined ? [] : [[type, ofType] as const];
    });
    return { day: dateOf(day), alive: Object.fromEntries(ofTypes) };
  });
}

/**
 * Returns how often a tenant's tokens were accessed, for each day in a range. The numbers are grouped by the access
 * log's operation, and may be a few seconds old.
 */
export async function dailyAccesses(
  { dailyCounts }: Pick<Vault, 'dailyCounts'>,
  tenantId: string,
  range: DayRange,
): Promise<readonly DayOfAccesses[]> {
  const days = daysOf(range);
  const counts = byDay(await dailyCounts.days(tenantId, 'accesses', days.first, days.last));
  return days.all.map((day) => {
    const ofDay = counts.get(day) ?? [];
    const sum = (outcome: string) =>
      ofDay.reduce((total, { what, count }) => (what === outcome ? total + count : total), 0);
    const successes = ofDay.filter(({ what }) => what === 'success').map(({ name, count }) => [name, count] as const);
    const operations: Record<string, number> = Object.fromEntries(successes);
    return { day: dateOf(day), operations, denied: sum('denied'), failed: sum('failed') };
  });
}

function daysOf({ from, to }: DayRange) {
  const [first, last] = [Math.floor(from / dayMs), Math.floor(to / dayMs)];
  return { first, last, all: Array.from({ length: last - first + 1 }, (_, index) => first + index) };
}

function byDay(counts: readonly DayCount[]): ReadonlyMap<number, readonly DayCount[]> {
  const days = new Map<number, DayCount[]>();
  for (const count of counts) days.set(count.day, [...(days.get(count.day) ?? []), count]);
  return days;
}

function dateOf(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}
