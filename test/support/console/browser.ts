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

export type TestBrowser = ReturnType<typeof createBrowser>;

/**
 * Creates a client for the console's app. Like a browser without scripts, the client stores cookies and the form token
 * of the last page. The client does not follow redirects.
 */
export function createBrowser(app: FastifyInstance, jar: ReadonlyMap<string, string> = new Map()) {
  const cookies = new Map(jar);
  let csrfToken = '';

  async function send(
    method: 'GET' | 'POST',
    url: string,
    body: string | undefined,
    { headers = {}, address }: RequestOptions,
  ): Promise<PageAnswer> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await app.inject({
      ...{ method, url },
      ...(body === undefined ? {} : { payload: body }),
      ...(address === undefined ? {} : { remoteAddress: address }),
      headers: {
        host: 'localhost',
        ...(cookie === '' ? {} : { cookie }),
        ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        ...headers,
      },
    });
    for (const set of response.cookies) {
      if (set.maxAge === 0) cookies.delete(set.name);
      else cookies.set(set.name, encodeURIComponent(set.value));
    }
    const [, shown] = /name="_csrf" value="([^"]+)"/.exec(response.body) ?? [];
    if (shown !== undefined) csrfToken = shown;
    const { location = null } = response.headers;
    return {
      ...{ status: response.statusCode, headers: response.headers, text: response.body, bytes: response.rawPayload },
      location: location === null ? null : String(location),
    };
  }

  return {
    cookies,
    get: (url: string, options: RequestOptions = {}) => send('GET', url, undefined, options),
    /** Posts a form with the form token from the last page. */
    post(
      url: string,
      fields: Readonly<Record<string, string>> = {},
      options: RequestOptions = {},
    ): Promise<PageAnswer> {
      const { csrf = csrfToken } = options;
      const form = new URLSearchParams({ ...(csrf === null ? {} : { _csrf: csrf }), ...fields });
      return send('POST', url, form.toString(), options);
    },
    /** Posts a form that can contain the same field several times. */
    postAll(url: string, fields: URLSearchParams): Promise<PageAnswer> {
      return send('POST', url, new URLSearchParams([['_csrf', csrfToken], ...fields]).toString(), {});
    },
    /**
     * Returns a second browser with copies of the cookies. An attacker who stole the cookies would have such a browser.
     */
    copy: () => createBrowser(app, cookies),
  };
}
