import { z } from 'zod';
import { parseTemplate } from '../../domain/detokenize/parse-template.js';
import { jsonText } from '../../domain/json-text.js';
import { detokenize } from '../../queries/detokenize.js';
import { jsonBodyOf } from '../body/json-body.js';
import { detokenizeMemoryBytes } from '../load/memory-budget.js';
import { documented } from '../openapi/operation.js';
import { Problem, problemFrom } from '../problem/problem.js';
import { callerOf, contextOf } from '../request-state.js';
import type { Routes } from '../routes.js';
import { sendText } from '../send-json.js';

const operation = documented({
  id: 'detokenize',
  tag: 'Tokenization',
  summary: 'Replace tokens in any JSON with their values',
  description:
    'Replaces expressions in the strings of the body: `{{ <id> }}` with what the caller may see of the token, `{{ ' +
    '<id> | <filters> }}` with the result of applying the filters to that, and `{{ token: <id> }}` with the token ' +
    'object, which has `enrichments` for cards. A request can name at most 100 ids.',
  requestExample: {
    pan: "{{ f2d07b4a-5fd6-4dd0-93d9-2b5d5b0a3f4b | json: '$.number' }}",
    text: "card ending in {{ f2d07b4a-5fd6-4dd0-93d9-2b5d5b0a3f4b | json: '$.number' | last4 }}",
  },
  answers: {
    200: {
      description: 'The same JSON with values in place of expressions.',
      schema: z.unknown(),
      example: { pan: '4242424242424242', text: 'card ending in 4242' },
    },
  },
  problems: ['validation_failed', 'forbidden', 'guesses_exhausted'],
});

/** `POST /detokenize` (docs/contract.md, "Detokenize"). */
export const detokenizeRoute: Routes = (app, { vault, limits }) => {
  app.post(
    '/detokenize',
    {
      config: { permission: 'token:use', mediaType: 'application/json', memoryBytes: detokenizeMemoryBytes, operation },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const slices = vault.turns.begin(caller.tenantId);
      const template = await slices.run(parseTemplate(vault.expressions, jsonBodyOf(request)));
      if (!template.ok) throw new Problem('validation_failed', { errors: template.errors });
      await limits.weigh(caller, template.value.ids.size);
      const result = await detokenize(vault, contextOf(request), template.value);
      if (!result.ok) throw problemFrom(result);
      return sendText(reply, 200, await slices.run(jsonText(result.value.reveal())));
    },
  );
};
