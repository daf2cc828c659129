import { documented } from '../../openapi/operation.js';
import { foundPage, tokenPageExample } from '../../openapi/schemas/token-page.js';

export const searchTokensOperation = documented({
  id: 'searchTokens',
  tag: 'Search',
  summary: 'Search tokens',
  description:
    'Terms `field:value` joined by AND, OR, NOT (also `!` and `-`) and parentheses. Fields: id, type, data, fingerprint, ' +
    'container, metadata.<key>, created_by, created_at, modified_by, modified_at. An empty query finds everything that the ' +
    'caller may see.',
  requestExample: { query: 'type:card AND container:/pci/* AND metadata.customer:c-17', page: 1, size: 20 },
  answers: { 200: { description: 'What was found.', schema: foundPage, example: tokenPageExample } },
  problems: ['validation_failed'],
});
