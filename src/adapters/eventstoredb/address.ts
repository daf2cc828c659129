import { readFileSync } from 'node:fs';
import { EventStoreDbBroken } from './failure.js';

export type Endpoint = { readonly address: string; readonly port: number };

/** The parsed `eventstore.url`. */
export type EventStoreDbAddress = {
  readonly hosts: readonly Endpoint[];
  /**
   * True if the hosts belong to a cluster. A cluster's gossip shows which node is the leader. If false, there is only
   * one host, which is expected to be a standalone server.
   */
  readonly isCluster: boolean;
  readonly user: { readonly username: string; readonly password: string } | null;
  /**
   * The TLS settings, or null if connections do not use TLS. If `rootCertificate` is null, connections trust the
   * certificate authorities that Node.js trusts.
   */
  readonly tls: { readonly rootCertificate: Buffer | null } | null;
};

const defaultPort = 2113;
const form = /^(esdb|esdb\+discover):\/\/(?:([^:@/]+):([^@/]+)@)?([^/?]+)\/*(?:\?(.*))?$/;
const hostForm = /^([A-Za-z0-9_.-]+)(?::(\d{1,5}))?$/;

/**
 * Parses an address. Throws EventStoreDbBroken if the address is invalid. The error message never contains the user or
 * the password.
 */
export function parseAddress(text: string): EventStoreDbAddress {
  const [, scheme, username, password, hostList = '', query = ''] = form.exec(text.trim()) ?? [];
  if (scheme === undefined) throw broken('write it as esdb://user:password@host:2113');
  const hosts = hostList.split(',').map(endpointOf);
  const isDiscovered = scheme === 'esdb+discover';
  if (isDiscovered && hosts.length > 1) {
    const named = hosts.map(nameOf).join(',');
    throw broken(`esdb+discover:// takes one DNS name. List several hosts as esdb://${named}`);
  }
  return {
    hosts,
    isCluster: isDiscovered || hosts.length > 1,
    user:
      username === undefined || password === undefined
        ? null
        : { username: decoded(username), password: decoded(password) },
    tls: tlsOf(query),
  };
}

/** Returns an endpoint as `address:port`, for messages and for gRPC. */
export function nameOf({ address, port }: Endpoint): string {
  return `${address}:${port}`;
}

function endpointOf(text: string): Endpoint {
  const [, address, port] = hostForm.exec(text.trim()) ?? [];
  if (address === undefined) throw broken('one of its hosts is neither a name nor an IPv4 address with a port');
  return { address, port: port === undefined ? defaultPort : Number(port) };
}

function tlsOf(query: string): EventStoreDbAddress['tls'] {
  let isSecure = true;
  let rootCertificate: Buffer | null = null;
  for (const option of query.split('&').filter((part) => part !== '')) {
    const [key = '', value = ''] = option.split('=');
    const name = key.toLowerCase();
    if (name === 'tls' && /^(true|false)$/i.test(value)) isSecure = value.toLowerCase() === 'true';
    else if (name === 'tlscafile') rootCertificate = certificateIn(decoded(value));
    else if (name !== 'tlsverifycert' || value.toLowerCase() !== 'true') {
      throw broken(`the option ${/^\w+$/.test(key) ? key : ''} is not supported. Only tls and tlsCAFile can be set`);
    }
  }
  return isSecure ? { rootCertificate } : null;
}

function certificateIn(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    throw broken('the file that tlsCAFile names cannot be read');
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw broken('a percent sign in it is not followed by two hexadecimal digits');
  }
}

function broken(why: string): EventStoreDbBroken {
  return new EventStoreDbBroken(`the address of EventStoreDB cannot be used: check eventstore.url; ${why}.`);
}
