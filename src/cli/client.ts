import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import { isLoopback } from '../compose/config/schemas.js';
import { type ApplicationType, applicationTypes } from '../domain/access/application-type.js';
import { isJsonObject, type Json, type JsonObject } from '../domain/json.js';
import type { Secret } from '../domain/secret.js';
import { inLowerCase } from '../domain/text.js';
import type { Page, PageAnswer } from '../http/pagination.js';
import { problemCatalogue } from '../http/problem/problem-catalogue.js';
import { Failure } from './failure.js';
import { fieldErrorText } from './operations/field-error-text.js';

export type ClientOptions = {
  readonly address: URL;
  /** The flag or variable that provided the address. Error messages mention it. */
  readonly addressName: string;
  readonly key: Secret<string>;
  /** The file or variable that provided the key. Error messages mention it. */
  readonly keyName: string;
  /** Determines whether the key may be sent to another machine over plain HTTP. */
  readonly plaintext: 'loopback only' | 'allowed';
  /** The time limit for one request, from sending the request to receiving the whole response. */
  readonly timeoutSeconds: number;
};

export type FoundPage = PageAnswer & { readonly _suggestions?: readonly string[] };
export type CreatedApplication = JsonObject &
  Readonly<Record<'id' | 'tenant_id' | 'name' | 'key', string>> & { readonly type: ApplicationType };

/** The requests that commands send to a service. Each method throws Failure with advice if the request fails. */
export type Client = {
  getToken(id: string): Promise<JsonObject>;
  createToken(request: Json): Promise<JsonObject>;
  deleteToken(id: string): Promise<{ readonly deleted: true }>;
  searchTokens(search: Page & { readonly query: string }): Promise<FoundPage>;
  createApplication(request: JsonObject): Promise<CreatedApplication>;
  listApplications(page: Page): Promise<PageAnswer>;
};

/**
 * Returns a client for the HTTP API (docs/contract.md, "Commands over HTTP"). This file contains all of the commands'
 * HTTP code. Throws Failure before anything is sent if the key would cross a network in plaintext.
 */
export function createClient(options: ClientOptions): Client {
  expectSafeNetwork(options);
  return {
    async getToken(id) {
      return bodyOf(options, await send(options, 'GET', tokenPath(id)), 200, isToken);
    },
    async createToken(request) {
      return bodyOf(options, await send(options, 'POST', '/tokens', request), 201, isToken);
    },
    async deleteToken(id) {
      const response = await send(options, 'DELETE', tokenPath(id));
      if (!isFromVault(response) || response.status !== 204) throw failureOf(options, response);
      return { deleted: true };
    },
    async searchTokens(search) {
      return bodyOf(options, await send(options, 'POST', '/tokens/search', search), 200, isFoundPage);
    },
    async createApplication(request) {
      return bodyOf(options, await send(options, 'POST', '/applications', request), 201, isCreatedApplication);
    },
    async listApplications({ page, size }) {
      return bodyOf(options, await send(options, 'GET', `/applications?page=${page}&size=${size}`), 200, isPage);
    },
  };
}

function expectSafeNetwork({ address, addressName, plaintext }: ClientOptions): void {
  if (address.protocol === 'https:' || plaintext === 'allowed') return;
  if (isLoopback(address.hostname)) return;
  throw new Failure(
    `${addressName}: ${address.origin} would receive the API key and the data in plaintext. Use https://, or ` +
      '--allow-plaintext-http if nobody else can read this network. Nothing was sent.',
    2,
  );
}

/**
 * Returns the URL path of a token. Throws Failure if the id is empty, `.` or `..`. Such an id would change the path of
 * the URL, and no token can have it.
 */
function tokenPath(id: string): string {
  if (/^\.{0,2}$/.test(id)) {
    const { detail, advice } = problemCatalogue.token_not_found;
    throw new Failure(inLowerCase(`${detail} ${advice}`));
  }
  return `/tokens/${encodeURIComponent(id)}`;
}

type Method = 'GET' | 'POST' | 'DELETE';
type Received = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Buffer };

/** The maximum size of a response. It is larger than a page of 100 tokens that all have the maximum size. */
const responseBytesMax = 128 * 1024 * 1024;

/** Sends one request on its own connection and never follows a redirect. */
async function send(options: ClientOptions, method: Method, path: string, body?: Json): Promise<Received> {
  const { address, key, timeoutSeconds } = options;
  const payload = body === undefined ? null : Buffer.from(JSON.stringify(body));
  const request = address.protocol === 'https:' ? requestHttps : requestHttp;
  const signal = AbortSignal.timeout(timeoutSeconds * 1_000);
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const call = request(new URL(path, address), {
        method,
        // Threat: the environment configures a proxy, and the proxy receives the key. With `agent: false`, the request
        // ignores that proxy.
        agent: false,
        signal,
        headers: {
          'service-api-key': key.reveal(),
          accept: 'application/json, application/problem+json',
          ...(payload === null ? {} : { 'content-type': 'application/json', 'content-length': payload.length }),
        },
      });
      call.on('response', resolve).on('error', reject).end(payload);
    });
    return { status: response.statusCode ?? 0, headers: response.headers, body: await buffer(limited(response)) };
  } catch (error) {
    if (error instanceof Failure) throw error;
    const changes = method !== 'GET' && path !== '/tokens/search';
    const next = changes ? 'Check whether the command took effect before you repeat it.' : 'Try again.';
    if (!signal.aborted) throw connectionFailure(options, error, next);
    throw new Failure(
      `${address.origin} did not respond within ${timeoutSeconds} s (--timeout-seconds allows more). ${next}`,
    );
  }

  async function* limited(response: IncomingMessage): AsyncIterable<Buffer> {
    let bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > responseBytesMax)
        throw new Failure(
          `${notTheVault(options, response.statusCode)}: it is too large. Check ${options.addressName}.`,
        );
      yield chunk;
    }
  }
}

/** Descriptions of certificate faults, keyed by Node.js error code. */
const certificateFaults: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet; check the clock of this machine',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another name',
};

/** Returns a sentence about the certificate of a server, or null if the error code is not about a certificate. */
export function certificateFaultOf(origin: string, code: string): string | null {
  if (!/^(CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_CERT_)/.test(code)) return null;
  const fault = certificateFaults[code] ?? 'is not signed by an authority that this machine trusts';
  return `the TLS certificate of ${origin} ${fault} (${code}).`;
}

/**
 * Returns the failure for a broken connection. `next` is the advice to show if the service might have received the
 * request.
 */
function connectionFailure({ address, addressName }: ClientOptions, error: unknown, next: string): Failure {
  const { origin, protocol } = address;
  const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'ECONNREFUSED':
      return new Failure(`nothing is listening at ${origin}. Check ${addressName}, and that the service is running.`);
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new Failure(`the host name of ${origin} cannot be resolved (${code}). Check ${addressName}.`);
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
      return new Failure(`${origin} cannot be reached (${code}). Check ${addressName} and the network.`);
  }
  const certificateFault = certificateFaultOf(origin, code);
  if (certificateFault !== null) {
    return new Failure(
      `${certificateFault} Nothing was sent. Check ${addressName}; for an authority of your own, set ` +
        'NODE_EXTRA_CA_CERTS to the file with its certificate.',
    );
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) {
    return new Failure(`${origin} does not speak TLS correctly (${code}). Check ${addressName}.`);
  }
  if (code.startsWith('HPE_')) {
    return new Failure(`${origin} does not speak HTTP correctly (${code}). Check ${addressName}.`);
  }
  const hint = protocol === 'http:' ? ` If it serves TLS, use https:// in ${addressName}.` : '';
  return new Failure(`the connection to ${origin} broke before the response was complete (${code}).${hint} ${next}`);
}

/** Returns the body of an expected response. Throws Failure for any other response. */
function bodyOf<Body extends Json>(
  options: ClientOptions,
  response: Received,
  status: number,
  isExpected: (body: Json) => body is Body,
): Body {
  const body = isFromVault(response) && response.status === status ? jsonOf(response) : undefined;
  if (body === undefined || !isExpected(body)) throw failureOf(options, response);
  return body;
}

/**
 * Returns true if Strongroom sent the response. Every response from Strongroom has a trace id, and other servers do not
 * send one.
 */
function isFromVault({ headers }: Received): boolean {
  return headers['service-trace-id'] !== undefined;
}

/** Returns the parsed body, or undefined if it is not JSON. */
function jsonOf({ headers, body }: Received): Json | undefined {
  if (!/^application\/(problem\+)?json\b/.test(headers['content-type'] ?? '')) return undefined;
  try {
    return JSON.parse(body.toString()) as Json;
  } catch {
    return undefined;
  }
}

const problemSchema = z.object({
  code: z.string(),
  title: z.string(),
  detail: z.string(),
  errors: z.record(z.string(), z.array(z.string())).optional(),
});

/** Returns the failure for an unexpected response. */
function failureOf(options: ClientOptions, response: Received): Failure {
  const { address, addressName, keyName } = options;
  const { status, headers } = response;
  const { 'retry-after': retryAfter = '', 'service-trace-id': traceId } = headers;
  const retry = /^\d{1,9}$/.test(retryAfter)
    ? ` Retry after ${retryAfter} ${retryAfter === '1' ? 'second' : 'seconds'}.`
    : '';
  const problem = problemSchema.safeParse(isFromVault(response) ? jsonOf(response) : undefined);
  if (!problem.success) {
    if (status >= 300 && status < 400) {
      return new Failure(
        `${address.origin} redirects to another address (status ${status}). The API key does not follow it: set ` +
          `${addressName} to the address of the service itself.`,
      );
    }
    const type = headers['content-type'] ?? 'no content type';
    return new Failure(
      `${notTheVault(options, status)} (${type}). Check ${addressName}; a proxy may have responded instead.${retry}`,
    );
  }
  const { code, title, detail, errors } = problem.data;
  if (errors !== undefined && Object.keys(errors).length > 0) return new Failure(fieldErrorText(errors));
  if (code === 'unauthenticated') {
    return new Failure(`no application of ${address.origin} has the API key from ${keyName}, or the key has expired.`);
  }
  if (code === 'not_found') {
    return new Failure(
      `${address.origin} does not know this request. Use the program version that matches the service.`,
    );
  }
  const trace = status >= 500 ? ` The trace id is ${String(traceId)}.` : '';
  const text = Object.hasOwn(problemCatalogue, code) ? inLowerCase(detail) : `${title}. ${detail}`;
  return new Failure(`${text}${retry}${trace}`);
}

function notTheVault({ address }: ClientOptions, status: number | undefined): string {
  return `the response from ${address.origin} with status ${status} is not from Strongroom`;
}

const tokenSchema = z.looseObject({ id: z.string() });
const pageSchema = z.object({
  pagination: z.object({
    total_items: z.int(),
    page_number: z.int(),
    page_size: z.int(),
    total_pages: z.int(),
  }),
  data: z.array(tokenSchema),
});
const foundPageSchema = pageSchema.extend({ _suggestions: z.array(z.string()).optional() });
const createdApplicationSchema = z.object({
  id: z.string(),
  tenant_id: z.string(),
  name: z.string(),
  type: z.enum(applicationTypes),
  key: z.string(),
});

// The schemas only check the body. We return the original body, because a parsed copy would have its fields in a
// different order.
const isToken = (body: Json): body is JsonObject => isJsonObject(body) && tokenSchema.safeParse(body).success;
const isPage = (body: Json): body is PageAnswer => pageSchema.safeParse(body).success;
const isFoundPage = (body: Json): body is FoundPage => foundPageSchema.safeParse(body).success;
const isCreatedApplication = (body: Json): body is CreatedApplication =>
  createdApplicationSchema.safeParse(body).success;
