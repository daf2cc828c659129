import { isDeepStrictEqual } from 'node:util';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { finishTenantDeletion } from '../../commands/tenancy/delete-tenant.js';
import type { Caller } from '../../domain/access/caller.js';
import { grantsAnywhere } from '../../domain/access/decide-access.js';
import { parseVisitor, type Visitor } from '../../domain/access/visitor.js';
import { type Checked, invalid } from '../../domain/field-errors.js';
import { after, type Maybe } from '../../ports/maybe.js';
import type { Admission } from '../load/admission.js';
import { Problem, permissionMissing } from '../problem/problem.js';
import { permissionsOf } from '../request-state.js';
import type { Service } from '../service.js';

/** The headers that may contain a request's API key. */
type KeyCarriers = {
  /** The lowercase names of the headers that contain only the key. The standard header is the first. */
  readonly headerNames: readonly string[];
  /** True if `Authorization: Bearer` may also contain the key. */
  readonly acceptsBearer: boolean;
};

/**
 * Creates the hook that checks each request before its body is read (docs/contract.md, "Order of checks"). The hook
 * rejects these requests:
 * - 429: the request exceeds a limit.
 * - 401: the request has no valid key.
 * - 403: the caller does not have the route's permission on any container.
 * - 400: the headers for the person or the reason are invalid.
 *
 * After the first two checks, the request waits for its tenant's share of the service.
 */
export function createAuthentication(service: Service, carriers: KeyCarriers, admission: Admission) {
  function check(request: FastifyRequest, reply: FastifyReply): Maybe<unknown> {
    if (request.routeOptions.config.permission === undefined) return service.limits.keyless(request);
    const key = keyOf(request, carriers);
    if (key === undefined) return refuse(request, reply, key);
    const authenticate = () => service.authenticate(key);
    return after(authenticate(), (caller) => {
      if (caller === null) return refuse(request, reply, key);
      request.authenticate = authenticate;
      return admit(request, reply, caller);
    });
  }

  async function refuse(request: FastifyRequest, reply: FastifyReply, key: string | undefined): Promise<unknown> {
    // The request is counted first. Threat: the holder of a deleted tenant's key repeats the request to make the vault
    // read its log and write to its key store without a limit.
    await service.limits.authFailure(request.ip);
    const { finishesTenantDeletion } = request.routeOptions.config;
    if (finishesTenantDeletion === true && key !== undefined && (await finishTenantDeletion(service.vault, key))) {
      return reply.code(204).send();
    }
    throw new Problem('unauthenticated');
  }

  function admit(request: FastifyRequest, reply: FastifyReply, caller: Caller): Maybe<void> {
    const visitor = statedVisitor(request);
    request.caller = callerAt(caller, request.ip, visitor.ok ? visitor.value : null);
    const counted = service.limits.request(caller);
    const admitted = after(counted, () => admission.admit(request, reply, caller.tenantId));
    return after(admitted, () => {
      expectPermission(request, caller);
      if (!visitor.ok) throw new Problem('validation_failed', { errors: visitor.errors });
    });
  }

  return hookOf(check);
}

/** Returns a hook that calls `done` without a delay if the check needs no promise. */
function hookOf(check: (request: FastifyRequest, reply: FastifyReply) => Maybe<unknown>) {
  return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    let checked: Maybe<unknown>;
    try {
      checked = check(request, reply);
    } catch (error) {
      done(error as Error);
      return;
    }
    if (checked instanceof Promise) checked.then(() => done(), done);
    else done();
  };
}

/** After this time since the request arrived, in ms, its caller is authenticated again. */
export const renewAfterMs = 100;

/**
 * Authenticates the caller again if the request has waited for its body or for its tenant's share of the service. Threat:
 * the holder of a key sends the end of a request long after the key was revoked, or after its application lost rights.
 */
export const renewCaller = hookOf((request) => {
  const { caller, authenticate } = request;
  if (caller === null || authenticate === null || performance.now() - request.beganAt < renewAfterMs) return;
  return after(authenticate(), (current) => {
    if (current === null) throw new Problem('unauthenticated');
    request.caller = callerAt(current, request.ip, caller.visitor ?? null);
    expectPermission(request, current);
  });
});

/**
 * Throws Problem 401 if the caller's key or access has changed since the request was authenticated. Use it between the
 * parts of a long response. Threat: the holder of a revoked key reads a long response slowly, and receives what others
 * store in the meantime.
 */
export function expectSameAccess({ caller, authenticate }: FastifyRequest): Maybe<void> {
  if (caller === null || authenticate === null) return;
  return after(authenticate(), (current) => {
    if (!isDeepStrictEqual(current?.access, caller.access)) throw new Problem('unauthenticated');
  });
}

/**
 * Returns the caller with the address and the visitor of the request. Copies each field by name, because spreading the
 * object takes as long as computing a hash.
 */
function callerAt(caller: Caller, sourceAddress: string, visitor: Visitor | null): Caller {
  const { tenantId, applicationId, keyId, applicationType, access, tenantSettings } = caller;
  const at = { tenantId, applicationId, keyId, applicationType, access, tenantSettings, sourceAddress };
  return visitor === null ? at : { visitor, ...at };
}

/** Throws Problem 403 if the caller has none of the route's permissions on any container. */
function expectPermission({ routeOptions }: FastifyRequest, caller: Caller): void {
  const sufficient = permissionsOf(routeOptions.config.permission);
  if (sufficient.length === 0) return;
  if (!sufficient.some((one) => grantsAnywhere(caller, one))) throw permissionMissing(sufficient);
}

/**
 * Returns the API key of a request. Returns undefined if the request has no key, or if its headers contain different
 * keys. If the vault accepted different keys, the order in which it reads the headers would determine the application
 * (docs/contract.md, "Authentication"). Reads the raw headers, because Node.js drops a second `Authorization` header.
 */
function keyOf({ raw: { rawHeaders } }: FastifyRequest, { headerNames, acceptsBearer }: KeyCarriers) {
  const keys = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at]?.toLowerCase() ?? '', rawHeaders[at + 1] ?? ''];
    if (headerNames.includes(name)) keys.add(value);
    const bearer = acceptsBearer && name === 'authorization' ? bearerIn(value) : undefined;
    if (bearer !== undefined) keys.add(bearer);
  }
  const [key] = keys;
  return keys.size > 1 ? undefined : key;
}

/**
 * Returns the text after the `Bearer` scheme. The text may be empty, and the scheme may be in upper or lower case.
 * Returns undefined if the header is absent or has a different scheme.
 */
function bearerIn(authorization: string | undefined): string | undefined {
  if (authorization === undefined || !/^bearer(?: |$)/i.test(authorization)) return undefined;
  return authorization.slice('bearer'.length).trim();
}

const realm = 'realm="strongroom"';

/**
 * Returns the challenges for a 401 (RFC 9110, section 11.6.1). They do not reveal why the key was rejected. A request
 * with a bearer token receives `invalid_token`, as RFC 6750, section 3, requires.
 */
export function challengesOf(request: FastifyRequest, acceptsBearer: boolean): string {
  const header = `ApiKey ${realm}, header="SERVICE-API-KEY"`;
  if (!acceptsBearer) return header;
  const error = bearerIn(request.headers.authorization) === undefined ? '' : ', error="invalid_token"';
  return `Bearer ${realm}${error}, ${header}`;
}

const names = { person: 'SERVICE-PERSON', reason: 'SERVICE-REASON' } as const;

/**
 * Returns the person and the reason from the headers of a request, or null if the request has neither header
 * (docs/contract.md, "Person and reason").
 */
function statedVisitor(request: FastifyRequest): Checked<Visitor | null> {
  const [person, reason] = [decoded(request, names.person), decoded(request, names.reason)];
  if (person === null) return invalid(names.person, notEncoded);
  if (reason === null) return invalid(names.reason, notEncoded);
  return parseVisitor({
    person: { name: names.person, text: person },
    reason: { name: names.reason, text: reason },
  });
}

const notEncoded = 'must be percent-encoded UTF-8';

/**
 * Returns the decoded header, undefined if the header is absent, or null if the header is not valid percent-encoded
 * text. Node.js decodes headers as Latin-1, so UTF-8 without percent-encoding would be garbled.
 */
function decoded({ headers }: FastifyRequest, name: string): string | undefined | null {
  const value = headers[name.toLowerCase()];
  if (typeof value !== 'string') return undefined;
  if (!/^[\x20-\x7e]*$/.test(value)) return null;
  try {
    return decodeURIComponent(value);
  } catch {
    return null;
  }
}
