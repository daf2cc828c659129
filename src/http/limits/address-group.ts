import { isIPv6 } from 'node:net';

const groupsOfNetwork = 4;

/**
 * Returns the group of an address. Requests are counted per group. The group is the address itself for IPv4 in any
 * notation, and the /64 network for IPv6. Threat: an attacker with one IPv6 network has 2^64 addresses and tries a bad
 * key from each.
 */
export function addressGroup(address: string): string {
  const ipv4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (ipv4?.[1] !== undefined) return ipv4[1];
  if (!isIPv6(address)) return address;
  const [head = '', tail] = (address.split('%')[0] ?? '').toLowerCase().split('::');
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return [...before, ...zeros, ...after].slice(0, groupsOfNetwork).join(':');
}

function groups(text: string): readonly string[] {
  return text === '' ? [] : text.split(':').map((group) => group.replace(/^0+(?=.)/, ''));
}
