import { problemBody } from '../problem.js';
import { type ProblemCode, problemCatalogue } from '../problem-catalogue.js';
import { pick, type ResponseHeader, responseHeaders } from './headers.js';
import type { Responses } from './responses.js';
import { problemDocument } from './schemas/problem-document.js';

const exampleTrace = '0b0a5a52-6a0f-4d55-8c0b-7a1f0c2d9e11';

/** The answers of these problems by status, each with one example a code. */
export function problemResponses(codes: readonly ProblemCode[]): Responses {
  const known = [...new Set(codes)];
  const statuses = [...new Set(known.map((code) => problemCatalogue[code].status))];
  return Object.fromEntries(
    statuses.map((status) => {
      const ofStatus = known.filter((code) => problemCatalogue[code].status === status);
      const headers: ResponseHeader[] = ['SERVICE-TRACE-ID'];
      if (status === 429 || status === 503) headers.push('Retry-After');
      const description = ofStatus.map((code) => `\`${code}\`: ${problemCatalogue[code].title}.`).join(' ');
      const examples = Object.fromEntries(ofStatus.map((code) => [code, { value: exampleOf(code) }]));
      const content = { 'application/problem+json': { schema: problemDocument, examples } };
      return [status, { description, headers: pick(responseHeaders, headers), content }];
    }),
  );
}

function exampleOf(code: ProblemCode): unknown {
  const errors = code === 'validation_failed' ? { 'data.number': ['is not a valid card number'] } : undefined;
  return JSON.parse(problemBody(code, exampleTrace, errors));
}
