import type { Checked } from '../field-errors.js';
import type { Json } from '../json.js';
import { createLru } from '../lru.js';
import type { Steps } from '../steps.js';
import { type Budget, createBudget } from './budget.js';
import type { Names } from './compile-chain.js';
import { compileExpression, compileFilters, type Expression, evaluateExpression } from './expression.js';
import { limits } from './limits.js';
import { checkMask, compileMask, type Mask } from './mask.js';
import { Refusal } from './refusal.js';
import type { RandomBelow, Scope } from './scope.js';

/**
 * The variables and filters that an expression may use. `aliases` allows the random `alias_*` filters. Only the
 * expression for an id may use them.
 */
export type ExpressionScope = { readonly variables: readonly ('data' | 'metadata')[]; readonly aliases?: boolean };

export type Variables = { readonly data: Json; readonly metadata?: Readonly<Record<string, string>> | null };

/** The message is written for the caller. It may contain a character position, but never quotes the source. */
export type Parsed =
  | { readonly ok: true; readonly expression: Expression }
  | { readonly ok: false; readonly message: string };

export type Evaluated = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly message: string };

/** The data that a masked read returns: a value other than null, or nothing if the data is redacted. */
export type MaskedData = { readonly redacted: true } | { readonly redacted: false; readonly data: Json };

/**
 * Parses and evaluates the expressions in tokens (docs/contract.md, "Expression syntax"). Caches a bounded number of
 * parsed expressions.
 */
export type Expressions = {
  parse(source: string, scope: ExpressionScope): Parsed;
  /**
   * Parses the filters that follow the first `|` of an object, as in a detokenize expression. These filters may read
   * only `data`.
   */
  parseFilters(filters: string): Parsed;
  /**
   * Evaluates an expression, in steps. Pass `random` if the expression was parsed with `aliases`, and pass the same
   * budget to all evaluations for a token. If evaluation fails while a token is created or updated, the request returns
   * 400. Possible causes are an impossible cast, a path to several values, or a result that is too large.
   */
  evaluating(
    expression: Expression,
    variables: Variables,
    context?: { readonly random?: RandomBelow; readonly budget?: Budget },
  ): Steps<Evaluated>;
  /** Checks a mask. Errors are reported under the path `mask`. */
  parseMask(mask: Json): Checked<Json>;
  /**
   * Evaluates a stored mask over the current data, in steps. If a `{{ }}` object cannot be evaluated, it becomes null.
   * Members that are null are dropped from JSON objects, but array items that are null are kept. If the whole result is
   * null, the data is redacted. `hideShortValues` is for the default masks of `bank` and `us_bank_account_number`. It
   * makes `reveal_last` hide a value that it would otherwise show completely (docs/contract.md, "Masks").
   */
  masking(
    mask: Json,
    variables: Variables,
    options?: { readonly hideShortValues?: boolean; readonly budget?: Budget },
  ): Steps<MaskedData>;
};

/**
 * Creates the parser and evaluator. The source of an expression may be sensitive, so the cache is small, is not shared
 * with other instances, and contains no source of more than 4,000 characters.
 */
export function createExpressions({
  cacheEntriesMax = 1_000,
}: {
  readonly cacheEntriesMax?: number;
} = {}): Expressions {
  const expressions = createLru<Expression>(cacheEntriesMax);
  const masks = createLru<Mask>(cacheEntriesMax);

  const keep = (kind: string, source: string, compileSource: () => Expression | Refusal): Expression | Refusal => {
    const key = `${kind}:${source}`;
    const known = expressions.get(key);
    if (known !== undefined) return known;
    const compiled = compileSource();
    if (!(compiled instanceof Refusal) && source.length <= limits.sourceCharactersMax) expressions.set(key, compiled);
    return compiled;
  };
  const compile = (source: string, kind: string, names: Names, keepMalformed: boolean): Expression | Refusal =>
    keep(kind, source, () => compileExpression(source, { ...names, keepMalformed }));
  const compileInMask = (source: string) =>
    compile(source, 'mask', { variables: ['data', 'metadata'], aliases: false }, true);
  const maskFor = (mask: Json): Mask => {
    const key = JSON.stringify(mask);
    const known = masks.get(key);
    if (known !== undefined) return known;
    const compiled = compileMask(mask, compileInMask);
    if (key.length <= limits.sourceCharactersMax) masks.set(key, compiled);
    return compiled;
  };

  return {
    parse: (source, { variables, aliases = false }) =>
      parsed(compile(source, [...variables, aliases].join(), { variables, aliases }, false)),
    parseFilters: (filters) => parsed(keep('filters', filters, () => compileFilters(filters))),
    *evaluating(expression, variables, { random, budget } = {}) {
      const value = yield* evaluateExpression(expression, scopeOf(variables, { random, budget }));
      return value instanceof Refusal ? { ok: false, message: value.message } : { ok: true, value };
    },
    parseMask: (mask) => checkMask(mask, compileInMask),
    *masking(mask, variables, { hideShortValues, budget } = {}) {
      const data = yield* maskFor(mask)(scopeOf(variables, { hideShortValues, budget }));
      return data === null ? { redacted: true } : { redacted: false, data };
    },
  };
}

function parsed(expression: Expression | Refusal): Parsed {
  return expression instanceof Refusal ? { ok: false, message: expression.message } : { ok: true, expression };
}

type ScopeOptions = {
  readonly random?: RandomBelow | undefined;
  readonly budget?: Budget | undefined;
  readonly hideShortValues?: boolean | undefined;
};

function scopeOf({ data, metadata = null }: Variables, options: ScopeOptions): Scope {
  return {
    data,
    metadata,
    random: options.random,
    budget: options.budget ?? createBudget(),
    hideShortValues: options.hideShortValues ?? false,
  };
}
