import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';

const header = 'x-forwarded-for';

/**
 * Adds a hook that removes everything except IP addresses from `X-Forwarded-For`. Threat: a trusted proxy passes on
 * what its caller wrote into the header, such as the value of a token. The access log would store the text unencrypted,
 * as the source address.
 *
 * Proxies append to the header, so the hook keeps the addresses after the last entry that is not an address. The
 * entries before it may be from the caller. If no address is left, the source address is the address of the proxy.
 */
export function keepOnlyAddresses(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { headers } = request.raw;
    const forwarded = headers[header];
    if (typeof forwarded === 'string') headers[header] = addressesAtEnd(forwarded).join(', ');
    done();
  });
}

function addressesAtEnd(forwarded: string): readonly string[] {
  const entries = forwarded.split(',').map((entry) => entry.trim());
  const addresses = entries.filter((entry) => entry !== '').map(addressIn);
  return addresses.slice(addresses.lastIndexOf(null) + 1).filter((address) => address !== null);
}

/** Returns the IP address without a port and a zone. Returns null if the entry is not an address. */
function addressIn(entry: string): string | null {
  const [, inBrackets] = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(entry) ?? [];
  const [, beforePort] = /^([\d.]+):\d{1,5}$/.exec(entry) ?? [];
  const [address = ''] = (inBrackets ?? beforePort ?? entry).split('%');
  return isIP(address) === 0 ? null : address;
}
