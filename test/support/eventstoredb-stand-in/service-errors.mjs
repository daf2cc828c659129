import { Metadata, status } from '@grpc/grpc-js';

/** What the server says of a request that it does not understand. */
export function unknownError() {
  return { code: status.UNKNOWN, details: 'Unexpected ReadAllResult: Error' };
}

/** @param {number} maxBytes */
export function tooLarge(maxBytes) {
  const metadata = new Metadata();
  metadata.set('exception', 'maximum-append-size-exceeded');
  metadata.set('maximum-append-size', String(maxBytes));
  return { code: status.INVALID_ARGUMENT, details: 'Maximum Append Size Exceeded.', metadata };
}
