import { Tokenizer } from 'liquidjs';
import { limits } from '../limits.js';
import type { Chain, ChainProblem, FilterCall } from './chain.js';
import { readOperand } from './read-operand.js';
import { bracketDepth, unquoted } from './unquoted.js';

/**
 * Reads what stands between `{{` and `}}`. liquidjs skips what it does not understand (`data |`, `data , last4`,
 * `reveal_last: , 4`, `data['a' junk]`); threat: a slip that drops a filter shows the value. So the chain is written out
 * again from its tokens, and unless that is the source, white space aside, the object is malformed.
 */
export function readChain(content: string): Chain | ChainProblem {
  const outsideQuotes = unquoted(content);
  if (bracketDepth(outsideQuotes) > limits.bracketDepthMax) return 'malformed';
  const read = tokenize(content);
  if (read === 'malformed' && mayBeRange(outsideQuotes)) return 'range';
  if (typeof read === 'string') return read;
  return withoutSpace(read.text) === withoutSpace(content) ? read.chain : 'malformed';
}

function tokenize(content: string): { chain: Chain; text: string } | ChainProblem {
  try {
    return fromTokens(new Tokenizer(content).readFilteredValue());
  } catch {
    // What liquidjs throws quotes the source, so nothing of it is passed on.
    return 'malformed';
  }
}

function fromTokens(token: ReturnType<Tokenizer['readFilteredValue']>): { chain: Chain; text: string } | ChainProblem {
  // Several tokens are an operator or two values side by side.
  const [only, ...others] = token.initial.postfix.map(readOperand);
  if (only === undefined || others.length > 0) return [only, ...others].includes('range') ? 'range' : 'malformed';
  if (typeof only === 'string') return only;
  const filters: FilterCall[] = [];
  let text = only.text;
  for (const { name, args } of token.filters) {
    const operands = args.map(readOperand);
    const problem = operands.find((operand) => typeof operand === 'string');
    if (problem !== undefined) return problem;
    const read = operands.filter((operand) => typeof operand !== 'string');
    filters.push({ name, args: read.map(({ operand }) => operand) });
    text += `|${name}${read.length > 0 ? ':' : ''}${read.map((operand) => operand.text).join(',')}`;
  }
  return { chain: { initial: only.operand, filters }, text };
}

/** A range that does not parse is still refused as one. */
function mayBeRange(outsideQuotes: string): boolean {
  const open = outsideQuotes.indexOf('(');
  return open !== -1 && outsideQuotes.indexOf('..', open) !== -1;
}

/** U+180E is white space to liquidjs, but not to JavaScript. */
function withoutSpace(text: string): string {
  return text.replace(/[\s\u180e]/gu, '');
}
