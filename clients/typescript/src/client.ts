import { StrongroomError } from './error.js';
import { operations as table } from './generated/operations.js';
import type { operations as Operations } from './generated/schema.js';

export { type ClientErrorCode, isProblemCode, type ProblemCode, StrongroomError } from './error.js';
export type { components } from './generated/schema.js';

export type StrongroomOptions = {
  /** The address of the service, such as `https://vault.example.com`. */
  readonly address: string | URL;
  /** An API key (`sr_…`). The client keeps it out of errors and printed output. */
  readonly apiKey: string;
  /** The time limit for one attempt, including its whole response. Default: 30,000. */
  readonly timeoutMs?: number;
  /** The maximum number of retries of a request, if retrying is safe. Default: 2. */
  readonly retriesMax?: number;
  /** The longest time that the service may ask the client to wait before a retry. Default: 30,000. */
  readonly retryDelayMsMax?: number;
  /** The maximum size of a response, in bytes. Default: 128 MiB, which is more than a page of 100 tokens can have. */
  readonly responseBytesMax?: number;
  /** Allows sending the key and the data in plaintext to another machine. Default: only to this machine. */
  readonly allowPlaintextHttp?: boolean;
  /** Called with the status and headers of each response, such as entity tags and trace ids. */
  readonly onResponse?: (response: ResponseHead) => void;
  /** Waits before a retry. Tests replace this function. */
  readonly wait?: (delayMs: number, signal: AbortSignal | undefined) => Promise<void>;
};

export type ResponseHead = { readonly operation: OperationId; readonly status: number; readonly headers: Headers };

export type OperationId = keyof Operations & keyof typeof table;

type BodyOf<Id extends OperationId> = Operations[Id] extends { requestBody: { content: infer Content } }
  ? { readonly body: Content[keyof Content] }
  : { readonly body?: never };

/** The arguments of an operation, as the OpenAPI document names them. */
export type Arguments<Id extends OperationId> = Omit<Operations[Id]['parameters'], 'cookie'> &
  BodyOf<Id> & { readonly signal?: AbortSignal };

type ContentOf<Response> = Response extends { content: infer Content extends object }
  ? Content[keyof Content]
  : undefined;

/** What an operation returns. */
export type Result<Id extends OperationId> = ContentOf<Operations[Id]['responses'][keyof Operations[Id]['responses']]>;

type Optional<Value> = Record<never, never> extends Value ? [value?: Value] : [value: Value];

type PagedId = { [Id in OperationId]: (typeof table)[Id]['paging'] extends null ? never : Id }[OperationId];
type ItemOf<Id extends OperationId> = Result<Id> extends { data: readonly (infer Item)[] } ? Item : never;

/** One method for each operation of the OpenAPI document, by its `operationId`. Each throws StrongroomError. */
export type Strongroom = {
  readonly [Id in OperationId]: (...args: Optional<Arguments<Id>>) => Promise<Result<Id>>;
} & {
  /** Yields the items of all pages, beginning with the page in the arguments or the first page. */
  iterate<Id extends PagedId>(operation: Id, ...args: Optional<Arguments<Id>>): AsyncGenerator<ItemOf<Id>, void>;
};

type Given = {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
};
type Method = (given?: Given) => Promise<unknown>;

/**
 * Returns a client for the service at `address`. Throws StrongroomError (`invalid_argument`), before anything is sent,
 * if the key is not an API key or would cross a network in plaintext.
 */
export function createClient(options: StrongroomOptions): Strongroom {
  const send = sender(options);
  const methods: Record<string, Method> = {};
  for (const id of Object.keys(table) as OperationId[]) methods[id] = (given = {}) => send(id, given);
  return {
    ...(methods as { [Id in OperationId]: Method }),
    iterate: (id: OperationId, given: Given = {}) => iterate(send, id, given),
  } as Strongroom;
}

type Send = (id: OperationId, given: Given) => Promise<unknown>;
type Page = {
  readonly data: readonly unknown[];
  readonly pagination: {
    readonly next?: string | null;
    readonly page_number?: number;
    readonly total_pages?: number;
    readonly total_items?: number;
  };
};

async function* iterate(send: Send, id: OperationId, given: Given): AsyncGenerator<unknown, void> {
  const { paging, hasEndDate } = table[id];
  if (paging === null) throw new StrongroomError('invalid_argument', `${id} does not return pages.`);
  const [place, name] = paging.split('.') as ['query' | 'body', 'page' | 'start'];
  let first = (given[place] ?? {}) as Readonly<Record<string, unknown>>;
  let previous: Page | null = null;
  const seen = new Set<unknown>();
  let at = first[name];
  for (;;) {
    const page = await send(id, { ...given, [place]: at === undefined ? first : { ...first, [name]: at } });
    if (!isPage(page)) throw new StrongroomError('unexpected_response', `${id} did not return a page.`);
    const { data, pagination } = page;
    yield* hasEndDate ? data.slice(repeatedItems(page, previous)) : data;
    if (hasEndDate && previous === null) first = withEndDate(first, data[0]);
    previous = page;
    seen.add(at);
    at = name === 'start' ? (pagination.next ?? undefined) : nextNumber(data, pagination);
    if (at === undefined) return;
    // Threat: a faulty server could keep the caller in an endless loop.
    if (seen.has(at)) throw new StrongroomError('unexpected_response', `${id} returned the same position twice.`);
  }
}

/**
 * Returns how many items at the start of a page are the last ones of the previous page. Items that were added at the
 * top in between, such as the entry for the read of the previous page, shift all items down.
 */
function repeatedItems({ data, pagination }: Page, previous: Page | null): number {
  if (previous === null) return 0;
  const added = (pagination.total_items ?? 0) - (previous.pagination.total_items ?? 0);
  let repeated = Math.min(Math.max(added, 0), data.length);
  const isRepeated = () => JSON.stringify(data.slice(0, repeated)) === JSON.stringify(previous.data.slice(-repeated));
  while (repeated > 0 && !isRepeated()) repeated -= 1;
  return repeated;
}

/**
 * Excludes entries that are recorded after the newest one of the first page, so that they shift no later page. Uses
 * the service's clock, because this machine's clock may differ.
 */
function withEndDate(query: Readonly<Record<string, unknown>>, newest: unknown): Readonly<Record<string, unknown>> {
  const { page = 1, end_date: endDate } = query;
  if (page !== 1 || endDate !== undefined || !isRecord(newest)) return query;
  const time = Date.parse(String(newest['created_at']));
  return Number.isNaN(time) ? query : { ...query, end_date: new Date(time + 1).toISOString() };
}

function isPage(page: unknown): page is Page {
  if (!isRecord(page) || !Array.isArray(page['data']) || !isRecord(page['pagination'])) return false;
  return typeof (page['pagination']['next'] ?? '') === 'string';
}

function nextNumber(data: Page['data'], { page_number = 0, total_pages = 0 }: Page['pagination']): number | undefined {
  return data.length > 0 && page_number < total_pages ? page_number + 1 : undefined;
}

function sender(options: StrongroomOptions): Send {
  const { timeoutMs = 30_000, retriesMax = 2, retryDelayMsMax = 30_000, wait = pause } = options;
  const { apiKey, responseBytesMax = 128 * 1024 * 1024, onResponse = () => undefined } = options;
  const base = safeAddress(options);
  if (!/^sr_(?:private|public|management)_[0-9A-Za-z]{49}$/.test(apiKey)) {
    throw new StrongroomError('invalid_argument', 'apiKey is not an API key (sr_…). Nothing was sent.');
  }
  // A timer cannot wait for longer.
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > 2_147_483_647) {
    throw new StrongroomError('invalid_argument', 'timeoutMs must be a whole number from 1 to 2147483647.');
  }

  return async (id, given) => {
    const { method, isRepeatable } = table[id];
    const url = urlOf(base, id, given);
    const request = { method, ...contentsOf(id, given) };

    for (let retries = 0; ; retries += 1) {
      try {
        const { response, text } = await attempt(id, url, request, given.signal);
        onResponse({ operation: id, status: response.status, headers: response.headers });
        return bodyOf(id, response, text);
      } catch (error) {
        if (!(error instanceof StrongroomError) || !isRepeatable || retries >= retriesMax) throw error;
        const delayMs = retryDelayMs(error, retries);
        if (delayMs === null || delayMs > retryDelayMsMax) throw error;
        await wait(delayMs, given.signal).catch((cause: unknown) => {
          throw new StrongroomError('aborted', `${id} was aborted by its caller.`, { cause });
        });
      }
    }
  };

  /** Returns headers and body. They are the same in each attempt. */
  function contentsOf(id: OperationId, { header = {}, body }: Given): { headers: Headers; body: string | null } {
    const { takesIdempotencyKey, contentType } = table[id];
    try {
      const headers = new Headers({ accept: 'application/json, application/problem+json, */*;q=0.1' });
      // All attempts use one key, so the service makes the change only once.
      if (takesIdempotencyKey) headers.set('service-idempotency-key', crypto.randomUUID());
      for (const [name, value] of Object.entries(header)) {
        if (value !== undefined && value !== null) headers.set(name, String(value));
      }
      headers.set('service-api-key', apiKey);
      if (contentType !== null) headers.set('content-type', contentType);
      return { headers, body: contentType === null ? null : JSON.stringify(body, finite) };
    } catch {
      throw invalid(id, 'a header is not valid text, or JSON cannot represent a value in the body, such as NaN');
    }
  }

  /** Sends one request and returns its response with the whole body. */
  async function attempt(
    id: OperationId,
    url: URL,
    request: { readonly method: string; readonly headers: Headers; readonly body: string | null },
    signal: AbortSignal | undefined,
  ): Promise<{ readonly response: Response; readonly text: string }> {
    const timeout = AbortSignal.timeout(timeoutMs);
    const either = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
    try {
      // Threat: a redirect would send the key to another server.
      const response = await fetch(url, { ...request, redirect: 'manual', signal: either });
      return { response, text: await textOf(id, response) };
    } catch (cause) {
      if (cause instanceof StrongroomError) throw cause;
      if (signal?.aborted) throw new StrongroomError('aborted', `${id} was aborted by its caller.`, { cause });
      if (timeout.aborted) {
        throw new StrongroomError('timeout', `${url.origin} did not respond to ${id} within ${timeoutMs} ms.`);
      }
      const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause.message : '';
      const message = `The connection to ${url.origin} failed${reason === '' ? '' : `: ${withoutKey(reason)}`}.`;
      throw new StrongroomError('connection_failed', message);
    }
  }

  /** Returns the body as text. Threat: an endless response would exhaust memory. */
  async function textOf(id: OperationId, response: Response): Promise<string> {
    const reader = response.body?.getReader();
    if (reader === undefined) return '';
    const decoder = new TextDecoder();
    let text = '';
    let bytes = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      bytes += value.length;
      if (bytes > responseBytesMax) {
        await reader.cancel();
        throw unexpected(id, response, `is larger than ${responseBytesMax} bytes`);
      }
      text += decoder.decode(value, { stream: true });
    }
  }

  /**
   * Returns the body of a successful response. Throws StrongroomError for a problem and for a response that did not
   * come from Strongroom.
   */
  function bodyOf(id: OperationId, response: Response, text: string): unknown {
    const { status, headers } = response;
    const type = headers.get('content-type')?.split(';')[0]?.trim() ?? null;
    // Strongroom returns a trace id with each response; other servers have no such header.
    if (!headers.has('service-trace-id')) throw unexpected(id, response, 'did not come from Strongroom');
    if (type === 'application/problem+json') throw problemOf(id, response, jsonOf(id, response, text));
    if (status === 304) {
      throw new StrongroomError('not_modified', `${id}: the entity tag is still current.`, headOf(response));
    }
    const { status: expected, returns } = table[id];
    // A server that returns 200 for a delete may have deleted nothing.
    if (status !== expected) throw unexpected(id, response, `should have status ${expected}`);
    if (returns === null) return undefined;
    if (type !== returns) throw unexpected(id, response, 'has an unexpected media type');
    return returns === 'application/json' ? jsonOf(id, response, text) : text;
  }

  function jsonOf(id: OperationId, response: Response, text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      // Threat: the parser's message quotes the text, which may be data.
      throw unexpected(id, response, 'is not JSON');
    }
  }

  function problemOf(id: OperationId, response: Response, body: unknown): StrongroomError {
    const problem = (typeof body === 'object' && body !== null ? body : {}) as Readonly<Record<string, unknown>>;
    const { code, title, detail, errors } = problem;
    if (typeof code !== 'string' || typeof title !== 'string')
      return unexpected(id, response, 'is not a valid problem document');
    const fields = messagesOf(errors);
    // An uncaught error may show no more than its message.
    const shown = fields.flatMap(([field, messages]) => messages.map((message) => ` ${field}: ${message}.`));
    const message = withoutKey(typeof detail === 'string' ? detail : title);
    return new StrongroomError(withoutKey(code), `${message}${shown.join('')}`, {
      ...headOf(response),
      title: withoutKey(title),
      errors: Object.fromEntries(fields),
    });
  }

  function messagesOf(errors: unknown): [field: string, messages: string[]][] {
    if (!isRecord(errors)) return [];
    return Object.entries(errors).map(([field, messages]) => {
      const texts = [messages].flat().filter((text) => typeof text === 'string');
      return [withoutKey(field), texts.map(withoutKey)];
    });
  }

  function unexpected(id: OperationId, response: Response, what: string): StrongroomError {
    const message =
      response.status >= 300 && response.status < 400 && response.status !== 304
        ? `${base.origin} redirects ${id} to another address. The client does not follow redirects.`
        : `The response from ${base.origin} to ${id} (status ${response.status}) ${what}.`;
    return new StrongroomError('unexpected_response', message, headOf(response));
  }

  function headOf({ status, headers }: Response) {
    const traceId = headers.get('service-trace-id');
    const retryAfterSeconds = secondsOf(headers.get('retry-after'));
    return {
      status,
      ...(traceId === null ? {} : { traceId: withoutKey(traceId) }),
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    };
  }

  /** Removes the API key. Threat: if a server echoed the request, the key would end up in logs. */
  function withoutKey(text: string): string {
    return text.replaceAll(apiKey, 'sr_…');
  }
}

/** Returns the address without a trailing slash. Throws StrongroomError if the key must not be sent there. */
function safeAddress({ address, allowPlaintextHttp = false }: StrongroomOptions): URL {
  const url = URL.canParse(String(address)) ? new URL(address) : null;
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    `${url.username}${url.password}${url.search}${url.hash}` !== ''
  ) {
    throw new StrongroomError(
      'invalid_argument',
      'address must be the http or https address of a service, such as https://vault.example.com.',
    );
  }
  const isLoopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === 'http:' && !isLoopback && !allowPlaintextHttp) {
    throw new StrongroomError(
      'invalid_argument',
      `${url.origin} would receive the API key and the data in plaintext. Use https:. Nothing was sent.`,
    );
  }
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

function urlOf(base: URL, id: OperationId, { path = {}, query = {} }: Given): URL {
  const filled = table[id].path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name];
    if (typeof value !== 'string' || /\p{Surrogate}/u.test(value)) throw invalid(id, `${name} is not valid text`);
    // Threat: an empty id, `.` or `..` would turn the path into that of another operation.
    if (/^\.{0,2}$/.test(value)) throw invalid(id, `${name} cannot be empty, "." or ".."`);
    return encodeURIComponent(value);
  });
  const url = new URL(`${base.pathname === '/' ? '' : base.pathname}${filled}`, base);
  for (const [name, value] of Object.entries(query)) {
    // An object becomes one parameter per member (OpenAPI: style form, explode), and an array one per item.
    const parameters = isRecord(value) ? membersOf(id, name, value) : [[name, value] as const];
    for (const [key, content] of parameters) {
      for (const item of [content].flat())
        if (item !== undefined && item !== null) url.searchParams.append(key, String(item));
    }
  }
  return url;
}

/**
 * Returns the members of an object in the query. Throws StrongroomError if the service would not use each of them as a
 * filter. Threat: the service ignores unknown parameters, so a list would contain every token, and the caller might
 * delete them.
 */
function membersOf(id: OperationId, name: string, value: Readonly<Record<string, unknown>>): [string, string][] {
  const prefixes: Readonly<Record<string, string>> = table[id].queryObjects;
  const prefix = prefixes[name];
  if (prefix === undefined) throw invalid(id, `${name} cannot be an object`);
  return Object.entries(value).map(([key, content]) => {
    if (!key.startsWith(prefix) || key === prefix) {
      throw invalid(id, `each name in ${name} must be "${prefix}" and a key, such as "${prefix}customer"`);
    }
    if (typeof content !== 'string') throw invalid(id, `a value in ${name} is not a string`);
    return [key, content];
  });
}

/** Throws if a value is NaN or infinite. Without this check, the vault would store null in its place. */
function finite(_: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError();
  return value;
}

function invalid(id: OperationId, what: string): StrongroomError {
  return new StrongroomError('invalid_argument', `${id}: ${what}. Nothing was sent.`);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns how long to wait before the same request is sent again, or null if another attempt would not help. */
function retryDelayMs({ code, status, retryAfterSeconds }: StrongroomError, retries: number): number | null {
  const isTransient =
    ['timeout', 'connection_failed', 'idempotency_in_flight'].includes(code) ||
    (status !== undefined && [429, 502, 503, 504].includes(status));
  if (!isTransient) return null;
  // Jitter keeps clients that failed together from retrying together.
  const backoffMs = Math.random() * Math.min(8_000, 250 * 2 ** retries);
  return retryAfterSeconds === undefined ? backoffMs : retryAfterSeconds * 1_000 + backoffMs;
}

/** Returns the seconds to wait according to a `Retry-After` header, which contains a number or a date. */
function secondsOf(retryAfter: string | null): number | undefined {
  if (retryAfter === null) return undefined;
  if (/^\d{1,9}$/.test(retryAfter)) return Number(retryAfter);
  const at = Date.parse(retryAfter);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1_000));
}

function pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, delayMs);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
  });
}
