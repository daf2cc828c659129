import { isIP } from 'node:net';
import { z } from 'zod';

/** An IP address, or a network as address and prefix length. Not every address: then any caller could name another's. */
export const proxyAddress = z
  .string({ error: 'must be text' })
  .refine(isProxyAddress, { error: 'must be an IP address or a network such as 10.0.0.0/8, and not every address' });

function isProxyAddress(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || rest.length > 0) return false;
  if (prefix === undefined) return true;
  return /^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128);
}
