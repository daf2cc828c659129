import { z } from 'zod';
import { documented } from '../../openapi/operation.js';

const suggestion = z.object({
  text: z.string().meta({ description: 'To be put in the place of the prefix.' }),
  kind: z.enum(['field', 'type', 'metadata_key', 'container']),
});

const suggestions = z.object({ suggestions: z.array(suggestion).max(20) }).meta({ id: 'SearchSuggestions' });

export const searchSuggestionsOperation = documented({
  id: 'searchSuggestions',
  tag: 'Search',
  summary: 'Complete a term of a query',
  description:
    'Fields and types, metadata keys and containers in use that begin with a prefix; the nearest ones when none does. ' +
    'After `type:`, `container:` or `metadata.` those alone. Metadata keys and containers are up to ten minutes old; a ' +
    'caller whose search does not cover `/` gets the containers of its own rules instead.',
  answers: {
    200: {
      description: 'At most 20.',
      schema: suggestions,
      example: {
        suggestions: [
          { text: 'card', kind: 'type' },
          { text: 'metadata.cart', kind: 'metadata_key' },
        ],
      },
    },
  },
  problems: ['validation_failed', 'malformed_request'],
});
