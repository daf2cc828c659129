import { documented } from '../../openapi/operation.js';
import { tokenExample } from '../../openapi/schemas/token-examples.js';
import { tokenObject } from '../../openapi/schemas/token-object.js';

export const getTokenOperation = documented({
  id: 'getToken',
  tag: 'Tokens',
  summary: 'Get a token',
  description: 'The token as the caller may see it: revealed, masked, or redacted (without `data`).',
  pathParameters: { id: 'The id of the token, percent-encoded.' },
  requestHeaders: ['If-None-Match'],
  answers: {
    200: { description: 'The token.', headers: ['ETag'], schema: tokenObject, example: tokenExample },
    304: { description: 'The token has the revision that If-None-Match names.', headers: ['ETag'] },
  },
  problems: ['forbidden', 'token_not_found'],
});
