import type { Json } from '../json.js';
import type { Steps } from '../steps.js';
import { codePointCount } from '../text.js';
import { type CompiledObject, compileChain, type Names } from './compile-chain.js';
import { limits } from './limits.js';
import { type ChainProblem, type Read, readChain, type SplitTemplate, splitTemplate } from './parse.js';
import { Refusal } from './refusal.js';
import type { EvaluateObject, Scope } from './scope.js';
import { textOf } from './text-of.js';

/** A compiled source: literal text and closures. It is immutable and contains no liquidjs types. */
export type Expression = {
  readonly parts: readonly (string | EvaluateObject)[];
  /** The number of `{{ }}` objects. 0 means that the source is plain text. */
  readonly objectCount: number;
  /** True if the expression draws a random alias. In that case, each evaluation may return a different value. */
  readonly random: boolean;
  /** Everything that the expression's objects may read. */
  readonly reads: readonly Read[];
};

/**
 * The names that an expression may use, and how a malformed object is treated. If `keepMalformed` is true, a malformed
 * object is kept and evaluates to null. This is how masks are parsed (docs/contract.md, "Masks").
 */
export type ParseOptions = Names & { readonly keepMalformed: boolean };

/** Compiles a source. A refusal states the problem and the character position, and never quotes the source. */
export function compileExpression(source: string, options: ParseOptions): Expression | Refusal {
  if (isTooLong(source)) return new Refusal(`has more than ${limits.sourceCharactersMax} characters`);
  const split = splitTemplate(source);
  if (!split.ok) return unsplittable(split, options);
  const parts: (string | EvaluateObject)[] = [];
  const reads: Read[] = [];
  let random = false;
  for (const part of split.parts) {
    if (part.kind === 'text') {
      parts.push(part.text);
      continue;
    }
    const object = compileObject(part.content, options);
    if (object instanceof Refusal) return new Refusal(`the object at character ${part.character} ${object.message}`);
    parts.push(object.evaluate);
    reads.push(...object.reads);
    random ||= object.random;
  }
  return { parts, random, reads, objectCount: parts.filter((part) => typeof part !== 'string').length };
}

/** Compiles filters that have no value before them (`last4 | upcase`). The filters are applied to the token's data. */
export function compileFilters(filters: string): Expression | Refusal {
  if (isTooLong(filters)) return new Refusal(`has more than ${limits.sourceCharactersMax} characters`);
  const object = compileObject(`data |${filters}`, { variables: ['data'], aliases: false, keepMalformed: false });
  if (object instanceof Refusal) return object;
  const { evaluate, random, reads } = object;
  return { parts: [evaluate], objectCount: 1, random, reads };
}

/**
 * Returns the value of an expression: a JSON value if the source is a single object, otherwise a string. If a part of
 * the expression cannot be evaluated, returns the first refusal.
 */
export function* evaluateExpression({ parts }: Pick<Expression, 'parts'>, scope: Scope): Steps<Json | Refusal> {
  const [only] = parts;
  if (parts.length === 1 && typeof only === 'function') return yield* only(scope);
  let text = '';
  for (const part of parts) {
    const piece = typeof part === 'string' ? part : yield* part(scope);
    if (piece instanceof Refusal) return piece;
    const pieceText = textOf(piece) ?? '';
    if (pieceText instanceof Refusal) return pieceText;
    text += pieceText;
  }
  return text;
}

function compileObject(content: string, options: ParseOptions): CompiledObject | Refusal {
  const chain = readChain(content);
  if (chain === 'malformed' && options.keepMalformed) {
    return { evaluate: nothing, random: false, reads: [] };
  }
  return typeof chain === 'string' ? new Refusal(problems[chain]) : compileChain(chain, options);
}

// biome-ignore lint/correctness/useYield: it must have the same type as other objects, but has nothing to do.
function* nothing(): Steps<null> {
  return null;
}

const problems: Readonly<Record<ChainProblem, string>> = {
  malformed: 'is not a value followed by filters',
  range: 'has a range, which is not supported',
  'unknown-variable': 'names an unknown variable',
  'lossy-number': 'has a number that may lose digits; write it in quotes',
};

function unsplittable(split: SplitTemplate & { ok: false }, options: ParseOptions): Expression | Refusal {
  // If a quote in a mask is not closed, it is unclear where the objects end, so the whole text evaluates to null.
  if (split.problem === 'quotes' && options.keepMalformed) {
    return { parts: [nothing], objectCount: 1, random: false, reads: [] };
  }
  const where = split.character === undefined ? '' : ` at character ${split.character}`;
  const remark = split.problem === 'tag' ? '; tags are not supported' : '';
  return new Refusal(`${splitProblems[split.problem]}${where}${remark}`);
}

const splitProblems = {
  tag: 'there is a tag ({% %})',
  braces: 'there are unbalanced braces',
  quotes: 'a quote is not closed',
} as const;

function isTooLong(source: string): boolean {
  return source.length > limits.sourceCharactersMax && codePointCount(source) > limits.sourceCharactersMax;
}
