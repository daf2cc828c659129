import { type TokenType, tokenTypes } from '../domain/token/types/token-type.js';
import type { CountTotal, DayCount } from '../ports/daily-counts.js';
import { type CommandResult, done, invalidFields } from '../vault/result.js';
import type { Vault } from '../vault/vault.js';

const dayMs = 86_400_000;
const daysMax = 400;

/** The first and the last day of a range. Each day is represented by any time on that day, in ms. */
export type DayRange = { readonly from: number; readonly to: number };

/**
 * The numbers for one token type and one day: how many tokens were created, deleted and expired on that day, and how
 * many were live at the end of the day.
 */
export type TokensOfDay = {
  readonly created: number;
  readonly deleted: number;
  readonly expired: number;
  readonly alive: number;
};

/** `day` is a date in UTC, such as `2026-01-31`. A type is absent until its first token is created. */
export type DayOfTokens = { readonly day: string; readonly types: Readonly<Partial<Record<TokenType, TokensOfDay>>> };

/** How many accesses to tokens succeeded, by operation, and how many accesses were denied or failed. */
export type DayOfAccesses = {
  readonly day: string;
  readonly operations: Readonly<Record<string, number>>;
  readonly denied: number;
  readonly failed: number;
};

/**
 * Returns how many tokens of each type a tenant has, for each day in a range of at most 400 days. The numbers may be a
 * few seconds old.
 */
export async function dailyTokens(
  { dailyCounts }: Pick<Vault, 'dailyCounts'>,
  tenantId: string,
  range: DayRange,
): Promise<CommandResult<readonly DayOfTokens[]>> {
  const days = daysOf(range);
  if (days === null) return invalidRange;
  const alive = new Map<string, number>();
  const count = ({ name, what, count: more }: CountTotal): void => {
    alive.set(name, (alive.get(name) ?? 0) + (what === 'created' ? more : -more));
  };
  for (const total of await dailyCounts.totalsBefore(tenantId, 'tokens', days.first)) count(total);
  const counts = byDay(await dailyCounts.days(tenantId, 'tokens', days.first, days.last));
  return done(
    days.all.map((day) => {
      const ofDay = counts.get(day) ?? [];
      for (const one of ofDay) count(one);
      const types = tokenTypes.flatMap((type) => {
        const inTotal = alive.get(type);
        const of = (what: string) => ofDay.find((one) => one.name === type && one.what === what)?.count ?? 0;
        const changes = { created: of('created'), deleted: of('deleted'), expired: of('expired') };
        return inTotal === undefined ? [] : [[type, { ...changes, alive: inTotal }] as const];
      });
      return { day: dateOf(day), types: Object.fromEntries(types) };
    }),
  );
}

/**
 * Returns how often a tenant's tokens were accessed, for each day in a range of at most 400 days. The numbers are
 * grouped by the access log's operation, and may be a few seconds old.
 */
export async function dailyAccesses(
  { dailyCounts }: Pick<Vault, 'dailyCounts'>,
  tenantId: string,
  range: DayRange,
): Promise<CommandResult<readonly DayOfAccesses[]>> {
  const days = daysOf(range);
  if (days === null) return invalidRange;
  const counts = byDay(await dailyCounts.days(tenantId, 'accesses', days.first, days.last));
  return done(
    days.all.map((day) => {
      const ofDay = counts.get(day) ?? [];
      const sum = (outcome: string) =>
        ofDay.reduce((total, { what, count }) => (what === outcome ? total + count : total), 0);
      const successes = ofDay.filter(({ what }) => what === 'success').map(({ name, count }) => [name, count] as const);
      const operations: Record<string, number> = Object.fromEntries(successes);
      return { day: dateOf(day), operations, denied: sum('denied'), failed: sum('failed') };
    }),
  );
}

const invalidRange = invalidFields({
  from: [`must not be after \`to\`, and at most ${daysMax} days before it`],
});

function daysOf({ from, to }: DayRange) {
  const [first, last] = [Math.floor(from / dayMs), Math.floor(to / dayMs)];
  if (!(first >= 0 && first <= last && last - first < daysMax)) return null;
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
