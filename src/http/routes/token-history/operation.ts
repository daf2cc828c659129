import { documented } from '../../openapi/operation.js';
import { historyEntryExample } from '../../openapi/schemas/directory-examples.js';
import { historyEntry } from '../../openapi/schemas/history-entry.js';
import { pageExample, pageOf } from '../../openapi/schemas/pagination.js';

export const tokenHistoryOperation = documented({
  id: 'tokenHistory',
  tag: 'Tokens',
  summary: 'Get the history of a token',
  description:
    'What happened to the token, the newest first, never a value; also to one that was deleted. With `log:read` all lives ' +
    'of the id, else the present one.',
  pathParameters: { id: 'The id of the token, percent-encoded.' },
  answers: {
    200: {
      description: 'A page of what happened.',
      schema: pageOf(historyEntry),
      example: pageExample(historyEntryExample),
    },
  },
  problems: ['validation_failed', 'forbidden', 'token_not_found'],
});
