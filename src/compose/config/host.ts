import { isIP } from 'node:net';
import { z } from 'zod';

const namePattern = /^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$/;

/** An address or name to listen on. */
export const host = z.string({ error: 'must be text' }).refine((text) => isIP(text) !== 0 || namePattern.test(text), {
  error: 'must be an IP address without brackets, or a host name',
});

/** Whether only this machine can reach it. Other names and ways to write an address count as reachable by others. */
export function isLoopback(text: string): boolean {
  return text === 'localhost' || text === '::1' || (isIP(text) === 4 && text.startsWith('127.'));
}
