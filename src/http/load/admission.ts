import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Turns } from '../../vault/turns.js';
import { overloaded } from '../problem/problem.js';
import { createMemoryBudget } from './memory-budget.js';
import { createShares } from './shares.js';

/** No memory is reserved for bodies up to this size. */
const smallBodyBytes = 64 * 1024;
/** The memory used to parse and validate a JSON body, in bytes per byte of the body. */
const bytesPerBodyByte = 8;

/**
 * The resources that a tenant's request uses. They are released when the response has been sent and the handler has
 * finished.
 */
export type Lease = {
  readonly tenantId: string;
  bytes: number;
  /** True if the handler has produced the response. */
  isAnswered: boolean;
  /** True if the response has been sent or the caller has disconnected. */
  isGone: boolean;
  isRunning: boolean;
};

/**
 * Decides when each tenant's requests run. Threat: a tenant sends many requests, or large ones, and leaves no time or
 * memory for other tenants.
 */
export type Admission = {
  /**
   * Resolves when the tenant's request may run. If the request may run immediately, returns undefined. Throws Problem
   * 503 if too little memory is available.
   */
  admit(request: FastifyRequest, reply: FastifyReply, tenantId: string): Promise<void> | undefined;
  /** Records the size in bytes of the response that is about to be sent. */
  respond(request: FastifyRequest, bytes: number): void;
};

export function createAdmission(app: FastifyInstance, turns: Turns, bodyBytesMax: number): Admission {
  const memory = createMemoryBudget();
  const shares = createShares();

  function settle(lease: Lease | null): void {
    if (lease === null || !lease.isRunning || !lease.isAnswered || !lease.isGone) return;
    lease.isRunning = false;
    if (lease.bytes > 0) memory.give(lease.tenantId, lease.bytes);
    shares.leave(lease.tenantId);
  }

  function gone(request: FastifyRequest): void {
    if (request.lease === null) return;
    request.lease.isGone = true;
    settle(request.lease);
  }

  app.decorateRequest('lease', null);
  app.addHook('onSend', (request, _reply, _payload, done) => {
    if (request.lease !== null) {
      request.lease.isAnswered = true;
      settle(request.lease);
    }
    done();
  });
  app.addHook('onResponse', (request, _reply, done) => {
    gone(request);
    done();
  });

  /**
   * Rejects a request whose caller has disconnected. Threat: a caller disconnects while sending a body. If its request
   * still ran, it would never release its resources.
   */
  function refuseGone({ isGone }: Lease): void {
    if (isGone) throw overloaded();
  }

  async function enter(lease: Lease, share: Promise<void> | undefined, bytes: number): Promise<void> {
    if (share !== undefined) {
      await share;
      // A tenant's waiting requests start one at a time, alternating with requests from other tenants.
      await turns.turn(lease.tenantId);
    }
    lease.isRunning = true;
    refuseGone(lease);
    if (bytes === 0) return;
    await memory.take(lease.tenantId, bytes, () => lease.isGone);
    lease.bytes += bytes;
    refuseGone(lease);
  }

  return {
    admit(request, reply, tenantId) {
      if (memory.isFull(tenantId)) throw overloaded();
      // The caller may have disconnected while the hook checked its key.
      const { destroyed } = reply.raw;
      const lease: Lease = { tenantId, bytes: 0, isAnswered: false, isGone: destroyed, isRunning: false };
      refuseGone(lease);
      request.lease = lease;
      reply.raw.once('close', () => gone(request));
      const share = shares.enter(tenantId, () => lease.isGone);
      const bytes = neededBytes(request, bodyBytesMax);
      if (share !== undefined || bytes > 0) return enter(lease, share, bytes);
      lease.isRunning = true;
      return undefined;
    },
    respond({ lease }, bytes) {
      if (lease === null || !lease.isRunning) return;
      memory.add(lease.tenantId, bytes);
      lease.bytes += bytes;
    },
  };
}

function neededBytes({ headers, routeOptions }: FastifyRequest, bodyBytesMax: number): number {
  const { memoryBytes = 0 } = routeOptions.config;
  const announced = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : bodyBytesMax;
  // A body over the limit needs no memory, because the server rejects it before reading it.
  const body = announced > smallBodyBytes && announced <= bodyBytesMax ? announced * bytesPerBodyByte : 0;
  return memoryBytes + body;
}
