import { accessDenied, unauthenticated } from './service-errors.mjs';

/** @typedef {Awaited<ReturnType<typeof import('./event-store.mjs').createEventStore>>} EventStore */
/** @typedef {'$r' | '$w' | '$d' | '$mr' | '$mw'} Right */

const admins = '$admins';
/** The role of every user who has a password. */
const everyone = '$all';

/**
 * Decides which requests are allowed. The decisions match those that we observed on a real server in secure mode. Users
 * are in streams `$user-NAME`. Permissions are in the metadata of `$all` and in the newest event of `$settings`. If the
 * administrator has no password, everything is allowed, as in insecure mode.
 * @param {string | undefined} adminPassword
 */
export function createAccess(adminPassword) {
  /** @param {EventStore} store @param {string | undefined} authorization @returns {readonly string[] | null} */
  const rolesOf = (store, authorization) => {
    const basic = /^Basic (.+)$/.exec(authorization ?? '')?.[1];
    if (basic === undefined) return [];
    const [name = '', ...rest] = Buffer.from(basic, 'base64').toString('utf8').split(':');
    const password = rest.join(':');
    if (name === 'admin') return password === adminPassword ? [everyone, name, admins] : null;
    const user = newest(store, `$user-${name}`);
    return user !== null && user.password === password ? [everyone, name, ...user.groups] : null;
  };

  return {
    /**
     * Returns the error for a request that is not allowed, or null if the request is allowed.
     * @param {EventStore} store @param {string | undefined} authorization @param {Right} right
     * @param {string} stream `$all` means the whole log
     */
    refusal(store, authorization, right, stream) {
      if (adminPassword === undefined) return null;
      const roles = rolesOf(store, authorization);
      if (roles === null) return unauthenticated();
      if (roles.includes(admins)) return null;
      const isMetadata = stream.startsWith('$$');
      const of = isMetadata ? stream.slice(2) : stream;
      const asked = isMetadata
        ? /** @type {const} */ ({ $r: '$mr', $w: '$mw', $d: '$mw', $mr: '$mr', $mw: '$mw' })[right]
        : right;
      const own = of === '$all' ? newest(store, '$$$all')?.$acl : undefined;
      const settings = newest(store, '$settings');
      const byDefault = of.startsWith('$') ? settings?.$systemStreamAcl : settings?.$userStreamAcl;
      const allowed = own?.[asked] ?? byDefault?.[asked] ?? (of.startsWith('$') ? admins : everyone);
      return [allowed].flat().some((role) => roles.includes(role)) ? null : accessDenied();
    },
    /**
     * Handles `POST /users/`.
     * @param {EventStore} store @param {string | undefined} authorization @param {string} body
     * @returns {Promise<number>} the status
     */
    async createUser(store, authorization, body) {
      const roles = rolesOf(store, authorization);
      if (roles === null || roles.length === 0) return 401;
      if (!roles.includes(admins)) return 403;
      const { loginName, fullName, groups, password } = JSON.parse(body);
      if (typeof loginName !== 'string' || typeof fullName !== 'string' || typeof password !== 'string') return 400;
      const data = Buffer.from(JSON.stringify({ groups, password }));
      const event = { id: crypto.randomUUID(), type: '$UserCreated', contentType: 'application/json', data };
      const request = { stream: `$user-${loginName}`, expected: -1, events: [{ ...event, metadata: Buffer.alloc(0) }] };
      return (await store.append(request)).outcome === 'appended' ? 201 : 409;
    },
  };
}

/**
 * Returns the content of the newest event in a stream.
 * @param {EventStore} store @param {string} stream @returns {any}
 */
function newest(store, stream) {
  const event = store.stream(stream).at(-1);
  return event === undefined ? null : JSON.parse(event.data.toString('utf8'));
}
