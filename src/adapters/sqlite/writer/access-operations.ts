import type { AccessWriter } from '../access-log/access-writer.js';
import type { Attempt } from '../database/group-commit.js';
import type { WriterRequest } from './protocol.js';

export type AccessRequest = Extract<WriterRequest, { operation: 'record_access' | 'drop_access' }>;

export function isOfAccess(request: WriterRequest): request is AccessRequest {
  return request.operation === 'record_access' || request.operation === 'drop_access';
}

/** A request to `vault.db` or `keys.db`. */
export type StoreRequest = Exclude<WriterRequest, AccessRequest>;

/** Runs a group of requests to the access log. All records of the group are stored in one transaction. */
export function createAccessOperations(access: AccessWriter) {
  return function run(requests: readonly AccessRequest[]): readonly Attempt[] {
    const lines = requests.flatMap((request) => (request.operation === 'record_access' ? request.input : []));
    const failed = lines.length === 0 ? null : access.record(lines);
    return requests.map((request) => {
      if (request.operation === 'record_access') return attemptOf(failed);
      return attemptOf(access.drop(request.input.beforeMonth));
    });
  };
}

function attemptOf(answer: Error | number | null): Attempt {
  return answer instanceof Error ? { ok: false, error: answer } : { ok: true, answer };
}
