import { Metadata, status } from '@grpc/grpc-js';

/** Returns the error for a request that the server does not understand. */
export function unknownError() {
  return { code: status.UNKNOWN, details: 'Unexpected ReadAllResult: Error' };
}

/** @param {number} maxBytes */
export function tooLarge(maxBytes) {
  const metadata = exception('maximum-append-size-exceeded');
  metadata.set('maximum-append-size', String(maxBytes));
  return { code: status.INVALID_ARGUMENT, details: 'Maximum Append Size Exceeded.', metadata };
}

/** @param {{ host: string, port: number } | null} endpoint */
export function notLeader(endpoint) {
  if (endpoint === null) return { code: status.UNKNOWN, details: 'No leader info available in response' };
  const metadata = exception('not-leader');
  metadata.set('leader-endpoint-host', endpoint.host);
  metadata.set('leader-endpoint-port', String(endpoint.port));
  return { code: status.NOT_FOUND, details: 'Leader info available', metadata };
}

export function accessDenied() {
  return { code: status.PERMISSION_DENIED, details: 'Access Denied', metadata: exception('access-denied') };
}

/** Returns the error for a delete with the wrong expected version. @param {string} stream @param {string} expected */
export function wrongExpectedVersion(stream, expected) {
  const metadata = exception('wrong-expected-version');
  metadata.set('stream-name', stream);
  metadata.set('expected-version', expected);
  metadata.set('actual-version', '');
  return { code: status.FAILED_PRECONDITION, details: 'Wrong expected version', metadata };
}

export function unauthenticated() {
  return { code: status.UNAUTHENTICATED, details: 'Unauthenticated' };
}

/** @param {string} name */
function exception(name) {
  const metadata = new Metadata();
  metadata.set('exception', name);
  return metadata;
}
