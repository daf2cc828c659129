import { documented } from '../../openapi/operation.js';

export const deleteTokenOperation = documented({
  id: 'deleteToken',
  tag: 'Tokens',
  summary: 'Delete a token',
  description:
    'Deletes the token and erases it: 204 means that its keys are destroyed. After 503 repeat the request; it goes on ' +
    'where it stopped.',
  pathParameters: { id: 'The id of the token, percent-encoded.' },
  requestHeaders: ['If-Match'],
  answers: { 204: { description: 'The token is erased.' } },
  problems: ['forbidden', 'token_not_found', 'precondition_failed'],
});
