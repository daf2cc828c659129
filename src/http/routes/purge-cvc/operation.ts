import { documented } from '../../openapi/operation.js';

export const purgeCvcOperation = documented({
  id: 'purgeCvc',
  tag: 'Tokens',
  summary: 'Purge the verification code of a card',
  description: 'For use right after authorization. It is done also when there is no code any more.',
  pathParameters: { id: 'The id of a card token, percent-encoded.' },
  requestHeaders: ['If-Match'],
  answers: { 204: { description: 'No verification code is stored for this card.' } },
  problems: ['validation_failed', 'forbidden', 'token_not_found', 'precondition_failed'],
});
