import { request as httpRequest } from 'node:http';
import type { FastifyInstance } from 'fastify';

export type PageAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
  readonly text: string;
  readonly bytes: Buffer;
  /** The address that the response redirects to. It is null if the response is not a redirect. */
  readonly location: string | null;
};

type RequestOptions = {
  readonly headers?: Readonly<Record<string, string>>;
  /** The source address of the request. */
  readonly address?: string;
  /** The form token that is sent in place of the token from the last page. If it is null, no token is sent. */
  readonly csrf?: string | null;
};

type SentRequest = {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly body: string | undefined;
  readonly address: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
};

type ReceivedAnswer = Pick<PageAnswer, 'status' | 'headers' | 'bytes'>;

/** Sends a request to a console and returns the response. */
export type Transport = (request: SentRequest) => Promise<ReceivedAnswer>;

/** Sends requests to the app of a console in this process. */
export function toApp(app: FastifyInstance): Transport {
  return async ({ method, url, body, address, headers }) => {
    const {
      statusCode,
      headers: received,
      rawPayload,
    } = await app.inject({
      method,
      url,
      headers,
      ...(body === undefined ? {} : { payload: body }),
      ...(address === undefined ? {} : { remoteAddress: address }),
    });
    return { status: statusCode, headers: received, bytes: rawPayload };
  };
}

/**
 * Sends requests to a console that listens on loopback. The source address must be a loopback address too. Calls
 * `beforeBody` between the headers and the body of a request.
 */
export function toListener(base: string, beforeBody?: () => Promise<void>): Transport {
  return ({ method, url, body, address, headers }) =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const call = httpRequest(
        new URL(url, base),
        { method, agent: false, localAddress: address, headers: { ...headers, ...length } },
        (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => void parts.push(part));
          response.on('error', reject);
          response.on('end', () => {
            resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(parts) });
          });
        },
      );
      call.on('error', reject);
      if (body === undefined || beforeBody === undefined) {
        call.end(body);
        return;
      }
      call.flushHeaders();
      beforeBody().then(() => call.end(body), reject);
    });
}

export type TestBrowser = ReturnType<typeof createBrowser>;

/**
 * Creates a client for a console. Like a browser without scripts, the client stores cookies and the form token of the
 * last page. The client does not follow redirects.
 */
export function createBrowser(transport: Transport, jar: ReadonlyMap<string, string> = new Map()) {
  const cookies = new Map(jar);
  let csrfToken = '';

  async function send(
    method: 'GET' | 'POST',
    url: string,
    body: string | undefined,
    { headers = {}, address }: RequestOptions,
  ): Promise<PageAnswer> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const {
      status,
      headers: received,
      bytes,
    } = await transport({
      method,
      url,
      body,
      address,
      headers: {
        host: 'localhost',
        ...(cookie === '' ? {} : { cookie }),
        ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        ...headers,
      },
    });
    for (const set of [received['set-cookie'] ?? []].flat().map(String)) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (/; Max-Age=0(?:;|$)/i.test(set)) cookies.delete(name);
      else cookies.set(name, value);
    }
    const text = bytes.toString('utf8');
    const [, shown] = /name="_csrf" value="([^"]+)"/.exec(text) ?? [];
    if (shown !== undefined) csrfToken = shown;
    const { location = null } = received;
    return { status, headers: received, text, bytes, location: location === null ? null : String(location) };
  }

  function post(
    url: string,
    fields: Readonly<Record<string, string>> = {},
    options: RequestOptions = {},
  ): Promise<PageAnswer> {
    const { csrf = csrfToken } = options;
    const form = new URLSearchParams({ ...(csrf === null ? {} : { _csrf: csrf }), ...fields });
    return send('POST', url, form.toString(), options);
  }

  return {
    cookies,
    get: (url: string, options: RequestOptions = {}) => send('GET', url, undefined, options),
    /** Posts a form with the form token from the last page. */
    post,
    /** Posts a form with the form token from the last page, and follows the redirect if the response is one. */
    async search(url: string, fields: Readonly<Record<string, string>>): Promise<PageAnswer> {
      const answer = await post(url, fields);
      return answer.location === null ? answer : send('GET', answer.location, undefined, {});
    },
    /** Posts a form that can contain the same field several times. */
    postAll(url: string, fields: URLSearchParams): Promise<PageAnswer> {
      return send('POST', url, new URLSearchParams([['_csrf', csrfToken], ...fields]).toString(), {});
    },
    /**
     * Returns a second browser with copies of the cookies. An attacker who stole the cookies would have such a browser.
     */
    copy: (to = transport) => createBrowser(to, cookies),
  };
}
