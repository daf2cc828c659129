import { type LookupAddress, type LookupAllOptions, lookup, promises } from 'node:dns';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { SendOutcome, WebhookSender } from '../../ports/webhook-sender.js';
import { isPublicAddress } from './public-address.js';

const timeLimitMs = 10_000;
const idleSocketsMax = { perReceiver: 16, inTotal: 64 };
/** The maximum number of tests of one tenant that wait for a response. A tenant has at most as many webhooks. */
const testsMax = 10;

/**
 * The time limit (in ms) of the first attempt of a DNS query, and the number of attempts. The limit of the second
 * attempt is twice as long. With one or two name servers, all attempts end within `timeLimitMs`.
 */
const queries = { timeout: 1_500, tries: 2 };

class NoPublicAddress extends Error {}

/** Looks up the addresses of a host name, like `dns.lookup` with the option `all`. */
type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export type WebhookSenderOptions = {
  /** If true, the sender also accepts plain HTTP and addresses that are not on the public internet. */
  readonly allowsPrivate: boolean;
  /** Replaces the DNS lookup in tests. */
  readonly resolve?: Resolve;
  readonly limitMs?: number;
};

/**
 * Creates a DNS lookup that sends its own queries. Threat: a tenant enters names whose name servers do not respond.
 * `dns.lookup` would wait for them on the two threads that all lookups of the process share, so that no webhook of
 * another tenant could be delivered. Unlike `dns.lookup`, it does not read `/etc/hosts`. The default servers are those
 * of the system.
 *
 * Each lookup has its own resolver. A resolver adapts its time limits to the responses so far, so a tenant with quick
 * or slow names could make the lookups of other tenants fail.
 */
export function dnsLookup(servers: readonly string[] | null = null): Resolve {
  return (hostname, _options, callback) => {
    const resolver = new promises.Resolver(queries);
    if (servers !== null) resolver.setServers(servers);
    const families = [
      resolver.resolve4(hostname).then((found) => found.map((address) => ({ address, family: 4 }))),
      resolver.resolve6(hostname).then((found) => found.map((address) => ({ address, family: 6 }))),
    ];
    Promise.allSettled(families).then((answers) => {
      const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      const [failed] = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
      callback(addresses.length > 0 ? null : failed, addresses);
    });
  };
}

/**
 * Limits the idle connections to all receivers together. Threat: a tenant changes the address of a webhook again and
 * again, and the connections to the earlier addresses use up the process's file descriptors.
 */
function limited<A extends HttpAgent>(agent: A): A {
  const keep = agent.keepSocketAlive.bind(agent);
  agent.keepSocketAlive = (socket) => {
    const idle = Object.values(agent.freeSockets).reduce((sum, sockets = []) => sum + sockets.length, 0);
    return idle < idleSocketsMax.inTotal ? keep(socket) : false;
  };
  return agent;
}

/**
 * Creates the sender, which delivers webhooks over HTTPS. Threat: server-side request forgery. A tenant enters an
 * address inside the vault's network, or a URL that redirects to a private address. With DNS rebinding, a name resolves
 * to a public address when the webhook is created and to a private address later. The sender therefore checks the
 * addresses in the DNS lookup of each connection, and does not follow redirects.
 */
export function webhookSender({
  allowsPrivate,
  // Names in a private network may be known only to the system, for example in `/etc/hosts`.
  resolve = allowsPrivate ? lookup : dnsLookup(),
  limitMs = timeLimitMs,
}: WebhookSenderOptions): WebhookSender {
  const checkedLookup: LookupFunction = (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const isPublic = error === null && addresses.every(({ address }) => isPublicAddress(address));
      // Threat: a tenant tries names, and learns which of them exist inside the vault's network. An unknown name must
      // therefore fail like a name of a private address.
      if (!isPublic && !allowsPrivate) return callback(new NoPublicAddress(), []);
      if (error !== null) return callback(error, []);
      const [first] = addresses;
      if (options.all === true || first === undefined) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };
  const { perReceiver } = idleSocketsMax;
  const agentOptions = { keepAlive: true, maxFreeSockets: perReceiver, timeout: 60_000, lookup: checkedLookup };
  const agents = { http: limited(new HttpAgent(agentOptions)), https: limited(new HttpsAgent(agentOptions)) };

  let isClosed = false;
  /** The number of tests of each tenant that are waiting for a response. */
  const tests = new Map<string, number>();

  function problemOf({ protocol, hostname }: URL): string | null {
    if (protocol !== 'https:' && !(allowsPrivate && protocol === 'http:')) return 'must begin with https://';
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    if (allowsPrivate) return null;
    const isPrivate = isIP(host) === 0 ? /(?:^|\.)localhost\.?$/.test(host) : !isPublicAddress(host);
    return isPrivate ? 'must be an address on the public internet' : null;
  }

  function post(url: URL, headers: Readonly<Record<string, string>>, body: string): Promise<SendOutcome> {
    return new Promise<SendOutcome>((resolveOutcome) => {
      // Checks the URL again before each request, for two reasons. A literal IP address is not looked up, so
      // `checkedLookup` does not see it. The setting `allowsPrivate` may also have changed since the webhook was
      // created.
      const problem = problemOf(url);
      if (problem !== null) return resolveOutcome({ kind: 'failed', problem: `the address ${problem}` });
      if (isClosed) return resolveOutcome({ kind: 'failed', problem: 'the service is stopping' });
      const isPlain = url.protocol === 'http:';
      const options = {
        method: 'POST',
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
        agent: isPlain ? agents.http : agents.https,
        maxHeaderSize: 16 * 1024,
      };
      const request = isPlain ? httpRequest(url, options) : httpsRequest(url, options);
      const settle = (outcome: SendOutcome): void => {
        clearTimeout(timer);
        resolveOutcome(outcome);
      };
      const timer = setTimeout(() => {
        settle({ kind: 'failed', problem: `no response within ${limitMs / 1_000} s` });
        request.destroy();
      }, limitMs);
      request.on('response', (response) => {
        settle({ kind: 'responded', status: response.statusCode ?? 0 });
        // Reuses the connection only if the response has no body. Threat: a receiver sends a body that is megabytes
        // long or never ends.
        if (response.headers['content-length'] === '0' || response.statusCode === 204) response.resume();
        else request.destroy();
      });
      request.on('error', (error) => settle({ kind: 'failed', problem: problemText(error) }));
      request.end(body);
    });
  }

  return {
    problemOf,
    post,
    async postTest(tenantId, ...given) {
      const waiting = tests.get(tenantId) ?? 0;
      if (waiting >= testsMax) return { kind: 'failed', problem: `${testsMax} tests are waiting for a response` };
      tests.set(tenantId, waiting + 1);
      const outcome = await post(...given);
      const left = (tests.get(tenantId) ?? 1) - 1;
      if (left === 0) tests.delete(tenantId);
      else tests.set(tenantId, left);
      return outcome;
    },
    close() {
      isClosed = true;
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

/**
 * Returns a description of the failure. Threat: a tenant learns internal addresses from a Node.js error message. The
 * description therefore never includes that message.
 */
function problemText(error: Error & { readonly code?: string }): string {
  if (error instanceof NoPublicAddress) {
    return 'the name cannot be resolved, or has an address that is not on the public internet';
  }
  if (error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN') return 'the name cannot be resolved';
  if (error.code === 'ECONNREFUSED') return 'the connection was refused';
  return /^(?:ERR_TLS|CERT|DEPTH|UNABLE|SELF_SIGNED)/.test(error.code ?? '')
    ? 'the TLS certificate is not valid'
    : 'the connection failed';
}
