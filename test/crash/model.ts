import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { callControl } from '#src/cli/control/call-control.js';
import type { Json, JsonObject } from '#src/domain/json.js';
import { type HttpAnswer, http } from '../support/process.js';

/** The expected result of a GET: the acknowledged body and entity tag. It is null if the token must not exist. */
type Shown = { readonly body: JsonObject; readonly etag: string } | null;
/**
 * The effect of a request that got no response: either the fields set by the request, or the deletion of the token. It
 * is null if all requests for the token got a response.
 */
type Pending = { readonly fields: Readonly<Record<string, Json>>; readonly cvcGone?: boolean } | 'deleted' | null;

type Entry = {
  readonly id: string;
  shown: Shown;
  pending: Pending;
  /** After this time (in milliseconds since the epoch), no response may contain the token's data. */
  expiresAt: number | null;
};

type Once = { readonly key: string; readonly body: object; id: string | null };

/** Creates a random number generator (mulberry32) that returns the same numbers for the same seed. */
export function chance(seed: number) {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { next, below: (max: number) => Math.floor(next() * max) };
}

export type Chance = ReturnType<typeof chance>;

/**
 * How long before its expiry a token can be hidden, in ms. A cluster without load hides a token up to 100 ms early. On
 * a loaded machine or during an election, it can hide the token even earlier.
 */
export const hiddenEarlyMsMax = 250;

export type ModelOptions = {
  /**
   * How long before its due time an expiry can take effect, in ms. The margin covers the uncertainty of the clock and
   * the time that reading the clock takes.
   */
  readonly marginMs?: number;
};

/** Thrown after a 503 with `Retry-After`, because a store is down. The request may still have taken effect. */
class Unavailable extends Error {}

/** How long the claim of a killed process can stay open, in ms. */
const claimedMsMax = 40_000;

/**
 * Creates concurrent callers that record what was acknowledged. Each token belongs to one caller. When the connections
 * break, a token therefore has at most one request without a response.
 */
export function createModel(key: string, random: Chance, { marginMs = 0 }: ModelOptions = {}) {
  const entries = new Map<string, Entry>();
  const once = new Map<string, Once>();
  const updates = new Map<string, { id: string; key: string; body: object; etag: string | null }>();
  const shared = new Map<string, string>();
  const applications: string[] = [];
  const tenants: string[] = [];
  /**
   * The number of create requests that contained neither an id nor an idempotency key and got no response. Each of
   * these requests may have created a token.
   */
  let anonymous = 0;
  let serial = 0;
  const acknowledged: Record<string, number> = {};
  let unavailable = 0;
  let shownTimes = 0;

  const name = (kind: string) => `${kind}-${process.pid}-${(serial++).toString(36)}`;
  const send = async (
    base: string,
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<HttpAnswer> => {
    const answer = await http(method, `${base}/tokens${path}`, {
      key,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    if (answer.status === 503 && Number(answer.headers['retry-after']) > 0) throw new Unavailable(answer.text);
    if (method === 'GET' && answer.status === 200) shownTimes += 1;
    return answer;
  };
  const shownOf = ({ body, headers }: HttpAnswer): Shown => ({ body, etag: String(headers.etag) });
  const unexpected = (what: string, { status, text }: HttpAnswer) =>
    new Error(`${what} was answered ${status}: ${text}`);

  function count(what: string): void {
    acknowledged[what] = (acknowledged[what] ?? 0) + 1;
  }

  async function create(base: string, mine: Entry[], what: string, body: JsonObject, headers = {}): Promise<void> {
    const id = String(body['id']);
    const { expires_at: expires, cvc_gone: _, ...fields } = body;
    const expiresAt = typeof expires === 'string' ? Date.parse(expires) : null;
    const entry: Entry = { id, shown: null, pending: { fields }, expiresAt };
    entries.set(id, entry);
    const answer = await send(base, 'POST', '', body, headers);
    if (answer.status === 400 && expiresAt !== null && Date.now() >= expiresAt - marginMs) {
      // The request waited for a store until after the token's expiry time.
      entry.pending = null;
      return;
    }
    if (answer.status !== 201) throw unexpected(what, answer);
    entry.shown = shownOf(answer);
    entry.pending = null;
    mine.push(entry);
    count(what);
  }

  const card = (cvc: string) => ({ number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc });

  async function createOnce(base: string, mine: Entry[]): Promise<void> {
    const request: Once = { key: name('once'), body: { type: 'token', data: name('value') }, id: null };
    once.set(request.key, request);
    const answer = await send(base, 'POST', '', request.body, { 'service-idempotency-key': request.key });
    if (answer.status !== 201) throw unexpected('create once', answer);
    request.id = String(answer.body['id']);
    const entry = { id: request.id, shown: shownOf(answer), pending: null, expiresAt: null };
    entries.set(entry.id, entry);
    mine.push(entry);
    count('create once');
  }

  async function createAnonymous(base: string, mine: Entry[]): Promise<void> {
    anonymous += 1;
    const answer = await send(base, 'POST', '', { type: 'token', data: name('value') });
    if (answer.status !== 201) throw unexpected('create without id', answer);
    anonymous -= 1;
    const entry = { id: String(answer.body['id']), shown: shownOf(answer), pending: null, expiresAt: null };
    entries.set(entry.id, entry);
    mine.push(entry);
    count('create without id');
  }

  async function createShared(base: string): Promise<void> {
    // Many callers share a few values. All create requests with the same value must return the same token.
    const value = `shared-${random.below(40)}-of-${Math.floor(serial / 400)}`;
    if (!shared.has(value)) shared.set(value, '');
    const answer = await send(base, 'POST', '', { type: 'token', data: value, deduplicate_token: true });
    if (answer.status !== 201) throw unexpected('deduplicated create', answer);
    const id = String(answer.body['id']);
    const known = shared.get(value);
    if (known !== '' && known !== id) throw new Error(`two tokens for ${value}`);
    shared.set(value, id);
    count('deduplicated create');
  }

  async function change(base: string, entry: Entry, body: JsonObject, cvcGone = false): Promise<void> {
    if (entry.shown === null) return;
    entry.pending = { fields: body, cvcGone };
    const headers: Record<string, string> = {};
    if (random.next() < 0.5) headers['if-match'] = entry.shown.etag;
    if (random.next() < 0.5) {
      const idempotencyKey = name('update');
      headers['service-idempotency-key'] = idempotencyKey;
      updates.set(entry.id, { id: entry.id, key: idempotencyKey, body, etag: null });
    } else updates.delete(entry.id);
    const answer = await send(base, 'PATCH', `/${entry.id}`, body, headers);
    if (answer.status !== 200) throw unexpected('update', answer);
    entry.shown = shownOf(answer);
    entry.pending = null;
    const update = updates.get(entry.id);
    if (update !== undefined) update.etag = String(answer.headers.etag);
    count('update');
  }

  /**
   * Reads a token while other tokens are being changed. The response must contain the last change made by the token's
   * caller.
   */
  async function reveal(base: string, entry: Entry): Promise<void> {
    const answer = await send(base, 'GET', `/${entry.id}`);
    if (answer.status !== 200 || !matches(answer, entry.shown)) throw unexpected('reveal', answer);
    count('reveal');
  }

  async function purge(base: string, entry: Entry): Promise<void> {
    if (entry.shown === null) return;
    entry.pending = { fields: {}, cvcGone: true };
    updates.delete(entry.id);
    const answer = await send(base, 'DELETE', `/${entry.id}/cvc`);
    if (answer.status !== 204) throw unexpected('cvc purge', answer);
    const read = await send(base, 'GET', `/${entry.id}`);
    if (read.status !== 200) throw unexpected('read after a cvc purge', read);
    entry.shown = shownOf(read);
    entry.pending = null;
    count('cvc purge');
  }

  async function remove(base: string, mine: Entry[], entry: Entry): Promise<void> {
    mine.splice(mine.indexOf(entry), 1);
    entry.pending = 'deleted';
    updates.delete(entry.id);
    const answer = await send(base, 'DELETE', `/${entry.id}`);
    if (answer.status !== 204) throw unexpected('delete', answer);
    entry.shown = null;
    entry.pending = null;
    count('delete');
  }

  async function step(base: string, mine: Entry[]): Promise<void> {
    const entry = mine[random.below(mine.length)];
    const isCard = entry?.shown?.body['type'] === 'card';
    const dice = random.below(120);
    if (entry === undefined || dice < 14) {
      const metadata = { a: name('m') };
      return create(base, mine, 'create with id', { id: name('id'), type: 'token', data: { v: name('v') }, metadata });
    }
    if (dice < 26) return create(base, mine, 'card', { id: name('card'), type: 'card', data: card('123') });
    if (dice < 34) return createOnce(base, mine);
    if (dice < 39) return createAnonymous(base, mine);
    if (dice < 48) return createShared(base);
    if (dice < 53) {
      const expires = new Date(Date.now() + marginMs + 300 + random.below(3_000)).toISOString();
      return create(base, [], 'short life', { id: name('brief'), type: 'token', data: 1, expires_at: expires });
    }
    if (isCard && dice < 74)
      return random.next() < 0.5 ? purge(base, entry) : change(base, entry, { data: { cvc: '9876' } });
    if (dice < 60) return change(base, entry, { metadata: { b: name('m') } });
    if (dice < 66) return change(base, entry, { containers: [`/general/${name('c')}/`] });
    if (dice < 80)
      return change(base, entry, { data: isCard ? { expiration_month: 1 + random.below(12) } : { w: name('w') } });
    if (dice < 100) return remove(base, mine, entry);
    return reveal(base, entry);
  }

  /**
   * Runs one caller until its connection breaks or `stop` is signaled. After a 503, the caller stops using the affected
   * token and continues with other tokens. Throws if a response is wrong.
   */
  async function caller(base: string, stop?: AbortSignal): Promise<void> {
    const mine: Entry[] = [];
    while (stop?.aborted !== true) {
      try {
        await step(base, mine);
      } catch (error) {
        if (isBroken(error)) return;
        if (!(error instanceof Unavailable)) throw error;
        unavailable += 1;
        mine.splice(0, mine.length, ...mine.filter(({ pending }) => pending === null));
        await wait(50);
      }
    }
  }

  /** Sends CLI commands to a running service until the connection breaks. */
  async function operator(socketPath: string, tenantId: string): Promise<void> {
    const input = { tenantId, name: 'crash', type: 'private', permissions: ['token:create', 'token:delete'] };
    for (;;) {
      const isTenant = random.next() < 0.5;
      const outcome = isTenant
        ? await callControl(socketPath, 'tenants-create', { name: name('tenant') }).catch(() => null)
        : await callControl(socketPath, 'applications-create', input).catch(() => null);
      if (outcome === null) return;
      if (!outcome.ok) throw new Error(outcome.message);
      const made = outcome.value as JsonObject;
      if (isTenant) tenants.push(String(made['tenant_id']));
      else applications.push(String(made['key']));
      count(isTenant ? 'tenant' : 'application');
      await wait(20 + random.below(60));
    }
  }

  /**
   * Checks a service after the crash, and returns every problem in its responses. Also settles the requests that got no
   * response.
   */
  async function check(base: string): Promise<string[]> {
    return [...(await checkTokens(base)), ...(await checkRepeats(base))];
  }

  /** Reads every token. This part of the check changes nothing in the vault. */
  async function checkTokens(base: string): Promise<string[]> {
    const problems: string[] = [];
    const parallel = [...entries.values()];
    await Promise.all(
      [...Array(6).keys()].map(async () => {
        for (let entry = parallel.pop(); entry !== undefined; entry = parallel.pop())
          await checkEntry(base, entry, problems);
      }),
    );
    return problems;
  }

  /** Repeats the requests that got no response. This part of the check changes the vault. */
  async function checkRepeats(base: string): Promise<string[]> {
    const problems: string[] = [];
    for (const request of once.values()) await repeat(base, request, problems);
    for (const update of updates.values()) await repeatUpdate(base, update, problems);
    for (const [value, id] of shared) {
      const again = await send(base, 'POST', '', { type: 'token', data: value, deduplicate_token: true });
      if (again.status !== 201) problems.push(`deduplicated create after the crash: ${again.status}`);
      else if (id !== '' && again.body['id'] !== id) problems.push(`a second token for ${value}`);
      shared.set(value, String(again.body['id']));
    }
    for (const applicationKey of applications) {
      const answer = await http('DELETE', `${base}/tokens/nothing`, { key: applicationKey });
      if (answer.status !== 404) problems.push(`the key of an acknowledged application: ${answer.status}`);
    }
    once.clear();
    updates.clear();
    applications.splice(0);
    return problems;
  }

  async function checkEntry(base: string, entry: Entry, problems: string[]): Promise<void> {
    const before = Date.now();
    const read = await send(base, 'GET', `/${entry.id}`);
    const what = `${entry.id} (acknowledged ${JSON.stringify(entry.shown)}, unanswered ${JSON.stringify(entry.pending)})`;
    const isGone = read.status === 404;
    if (!isGone && read.status !== 200) problems.push(`${what}: read answers ${read.status} ${read.text}`);
    else if (entry.expiresAt !== null && Date.now() >= entry.expiresAt) {
      if (!isGone && before >= entry.expiresAt) problems.push(`${what}: shown after it expired`);
      entries.delete(entry.id);
      return;
    } else if (isGone) {
      const isDue = entry.expiresAt !== null && Date.now() >= entry.expiresAt - marginMs;
      const mayBeGone = entry.shown === null || entry.pending === 'deleted' || isDue;
      if (!mayBeGone) problems.push(`${what}: lost`);
      entry.shown = null;
    } else if (matches(read, entry.shown) || (entry.pending !== null && follows(read, entry))) {
      entry.shown = shownOf(read);
    } else problems.push(`${what}: reads ${read.text} with ${read.headers.etag}`);
    entry.pending = null;
  }

  async function repeat(base: string, request: Once, problems: string[]): Promise<void> {
    const again = () =>
      onceFree(() => send(base, 'POST', '', request.body, { 'service-idempotency-key': request.key }));
    const [first, second] = [await again(), await again()];
    const entry = entries.get(request.id ?? String(first.body['id']));
    if (request.id !== null && entry !== undefined && entry.shown === null) {
      if (first.status !== 404) problems.push(`repeat of ${request.key} after its token was deleted: ${first.status}`);
      return;
    }
    if (first.status !== 201 || second.body['id'] !== first.body['id']) {
      problems.push(`repeat of ${request.key}: ${first.status} ${first.text}, then ${second.status}`);
      return;
    }
    const id = String(first.body['id']);
    if (request.id !== null && id !== request.id) problems.push(`repeat of ${request.key} made a second token`);
    if (entry === undefined) entries.set(id, { id, shown: shownOf(first), pending: null, expiresAt: null });
  }

  async function repeatUpdate(
    base: string,
    { id, key: idempotencyKey, body, etag }: { id: string; key: string; body: object; etag: string | null },
    problems: string[],
  ): Promise<void> {
    const entry = entries.get(id);
    if (entry?.shown == null) return;
    const answer = await onceFree(() =>
      send(base, 'PATCH', `/${id}`, body, { 'service-idempotency-key': idempotencyKey }),
    );
    if (answer.status !== 200) problems.push(`repeat of an update of ${id}: ${answer.status} ${answer.text}`);
    else if (etag !== null && entry.shown.etag === etag && answer.headers.etag !== etag) {
      problems.push(`repeat of an acknowledged update of ${id} changed it again`);
    } else entry.shown = shownOf(answer);
  }

  return {
    caller,
    operator,
    check,
    checkTokens,
    acknowledged,
    tenants,
    /** Returns how many requests got a 503. */
    unavailable: () => unavailable,
    /** Returns how many GET requests returned a token. */
    shownTimes: () => shownTimes,
    /** Returns how many requests were acknowledged. */
    total: () => Object.values(acknowledged).reduce((sum, of) => sum + of, 0),
    /** Returns the ids of tokens whose deletion was acknowledged and that were not created again later. */
    deleted: () =>
      [...entries.values()].filter(({ shown, pending }) => shown === null && pending === null).map(({ id }) => id),
    /**
     * Returns the lowest and the highest possible number of live tokens. Both are correct only after `check` has run
     * and all tokens with a short life have expired.
     */
    living(): readonly [number, number] {
      const lasting = [...entries.values()].filter(({ shown, expiresAt }) => shown !== null && expiresAt === null);
      const ids = new Set(lasting.map(({ id }) => id));
      for (const id of shared.values()) ids.add(id);
      return [ids.size, ids.size + anonymous];
    },
    /** Returns how long it takes until all tokens with a short life have expired, in ms. */
    untilExpired: () => Math.max(0, ...[...entries.values()].map(({ expiresAt }) => (expiresAt ?? 0) - Date.now())),
  };
}

/** Repeats the request until the killed process's claim no longer blocks it. */
async function onceFree(ask: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
  const until = performance.now() + claimedMsMax;
  for (;;) {
    const answer = await ask();
    if (answer.status !== 409 || performance.now() > until) return answer;
    await wait(500);
  }
}

function matches({ body, headers }: HttpAnswer, shown: Shown): boolean {
  return shown !== null && headers.etag === shown.etag && isDeepStrictEqual(body, shown.body);
}

/**
 * Returns true if the response matches the acknowledged state plus the complete effect of the request that got no
 * response.
 */
function follows({ body, headers }: HttpAnswer, { shown, pending }: Entry): boolean {
  if (pending === null || pending === 'deleted') return false;
  const revision = Number(String(headers.etag).replaceAll('"', ''));
  const before = shown === null ? -1 : Number(shown.etag.replaceAll('"', ''));
  if (shown !== null && revision !== before + 1) return false;
  const expected = merged(shown?.body ?? {}, pending.fields);
  const compared = ['id', 'type', 'data', 'metadata', 'containers'].filter((field) => field in expected);
  return compared.every((field) =>
    isDeepStrictEqual(withoutCvc(body[field], pending), withoutCvc(expected[field], pending)),
  );
}

/** Applies a merge patch to the target (RFC 7386), and returns the result. */
function merged(target: Json, patch: Json): JsonObject {
  const result: Record<string, Json> = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(isObject(patch) ? patch : {})) {
    if (value === null) delete result[name];
    else result[name] = isObject(value) ? merged(result[name] ?? null, value) : value;
  }
  return result;
}

function withoutCvc(value: Json | undefined, pending: Exclude<Pending, null | 'deleted'>): Json | undefined {
  if (pending.cvcGone !== true || value === undefined || !isObject(value)) return value;
  const { cvc: _, ...rest } = value;
  return rest;
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isBroken(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ECONNRESET' || code === 'ECONNREFUSED' || code === 'EPIPE';
}
