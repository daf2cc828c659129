import { Tokenizer, TypeGuards } from 'liquidjs';
import { isFaithfulNumber } from '../faithful-number.js';
import type { Json } from '../json.js';
import { limits } from './limits.js';

/**
 * A parsed `{{ }}` object whose names and arguments have not been checked yet. It consists of a value and the filters
 * that the value passes through. This type does not depend on the types of liquidjs.
 */
export type Chain = { readonly initial: Operand; readonly filters: readonly FilterCall[] };

type FilterCall = { readonly name: string; readonly args: readonly Operand[] };

export type Operand =
  | { readonly kind: 'literal'; readonly value: Json }
  | { readonly kind: 'variable'; readonly name: string; readonly path: readonly Operand[] };

/** The part of a variable that an object reads. `path` lists the literal keys that lead to that part. */
export type Read = { readonly variable: string; readonly path: readonly Json[] };

/** Returns everything that a chain reads. Each path ends before the first step whose key is computed. */
export function readsOf({ initial, filters }: Chain): readonly Read[] {
  return [initial, ...filters.flatMap(({ args }) => args)].flatMap(readsOfOperand);
}

function readsOfOperand(operand: Operand): readonly Read[] {
  if (operand.kind === 'literal') return [];
  const { name, path } = operand;
  const computed = path.findIndex((step) => step.kind !== 'literal');
  const literal = path
    .slice(0, computed === -1 ? path.length : computed)
    .flatMap((step) => (step.kind === 'literal' ? [step.value] : []));
  return [{ variable: name, path: literal }, ...path.flatMap(readsOfOperand)];
}

/**
 * The reason why the content of a `{{ }}` object is not a valid chain. A stored mask may contain a `malformed` object,
 * which evaluates to null. Everything else is rejected everywhere: a `range`, an `unknown-variable`, and a
 * `lossy-number`, which may have lost digits (docs/contract.md, "Expression syntax").
 */
export type ChainProblem = 'malformed' | 'range' | 'unknown-variable' | 'lossy-number';

/**
 * Literal text, or the content of one `{{ }}` object. `character` is the position of the object in the source, counted
 * from 1.
 */
type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'object'; readonly content: string; readonly character: number };

export type SplitTemplate =
  | { readonly ok: true; readonly parts: readonly TemplatePart[] }
  | { readonly ok: false; readonly problem: 'tag' | 'braces' | 'quotes'; readonly character?: number };

/**
 * Splits a source into literal text and objects. As in Liquid, `{{-` and `-}}` trim the white space of the adjacent
 * text. A `}}` in literal text is allowed if it closes braces that were opened in the literal text, because JSON in the
 * text may end in `}}`. Any other `}}` in literal text is an error.
 */
export function splitTemplate(source: string): SplitTemplate {
  if (!/\{\{|\{%|\}\}/.test(source)) {
    return { ok: true, parts: source === '' ? [] : [{ kind: 'text', text: source }] };
  }
  const tokens = readTokens(source);
  if (tokens === null) return { ok: false, problem: problemOf(source) };
  const parts: TemplatePart[] = [];
  let openBraces = 0;
  for (const token of tokens) {
    const character = token.begin + 1;
    if (TypeGuards.isTagToken(token)) return { ok: false, problem: 'tag', character };
    if (TypeGuards.isOutputToken(token)) {
      if (unquoted(token.content).includes('{{')) return { ok: false, problem: 'braces', character };
      parts.push({ kind: 'object', content: token.content, character });
    } else {
      openBraces = bracesAfter(token.getText(), openBraces);
      if (openBraces < 0) return { ok: false, problem: 'braces', character };
      const text = TypeGuards.isHTMLToken(token) ? token.getContent() : '';
      if (text !== '') parts.push({ kind: 'text', text });
    }
  }
  return { ok: true, parts };
}

function readTokens(source: string) {
  try {
    return new Tokenizer(source).readTopLevelTokens();
  } catch {
    // Does not pass on the error from liquidjs, because it quotes the source.
    return null;
  }
}

/**
 * Returns the reason why liquidjs rejected a source: a tag, unbalanced braces, or an unclosed quote. A single
 * apostrophe in an object also counts as an unclosed quote.
 */
function problemOf(source: string): 'tag' | 'braces' | 'quotes' {
  if (source.includes('{%')) return 'tag';
  let rest = source;
  for (let open = rest.indexOf('{{'); open !== -1; open = rest.indexOf('{{')) {
    const close = rest.indexOf('}}', open + 2);
    if (close === -1 || rest.slice(open + 2, close).includes('{{')) return 'braces';
    rest = rest.slice(close + 2);
  }
  return rest.includes('}}') ? 'braces' : 'quotes';
}

/**
 * Parses the content between `{{` and `}}`. liquidjs skips parts that it does not understand (`data |`, `data , last4`,
 * `reveal_last: , 4`, `data['a' junk]`). Threat: a typo in a mask causes liquidjs to skip a filter, and the mask then
 * shows the value. The chain is therefore converted back to text from its tokens. If that text differs from the source
 * in anything but white space, the object is malformed.
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
    // Does not pass on the error from liquidjs, because it quotes the source.
    return 'malformed';
  }
}

function fromTokens(token: ReturnType<Tokenizer['readFilteredValue']>): { chain: Chain; text: string } | ChainProblem {
  // If there is more than one token, the source contains an operator or two adjacent values.
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

/**
 * Returns whether a malformed object looks like a range, so that the error message can state that ranges are not
 * supported.
 */
function mayBeRange(outsideQuotes: string): boolean {
  const open = outsideQuotes.indexOf('(');
  return open !== -1 && outsideQuotes.indexOf('..', open) !== -1;
}

/** Removes white space. Unlike JavaScript, liquidjs treats U+180E as white space. */
function withoutSpace(text: string): string {
  return text.replace(/[\s\u180e]/gu, '');
}

/**
 * An operand, and its source without white space. `readChain` uses that source to check that liquidjs skipped nothing.
 */
type ReadOperand = { readonly operand: Operand; readonly text: string };

const literals = new Map([
  ['true', true],
  ['false', false],
  ['nil', null],
  ['null', null],
]);

/** Converts one liquidjs value token to an operand of our own type. */
function readOperand(token: unknown): ReadOperand | ChainProblem {
  if (TypeGuards.isRangeToken(token)) return 'range';
  if (TypeGuards.isQuotedToken(token) || TypeGuards.isNumberToken(token)) {
    const text = token.getText();
    if (TypeGuards.isNumberToken(token) && !isFaithfulNumber(text)) return 'lossy-number';
    return { operand: { kind: 'literal', value: token.content }, text };
  }
  if (TypeGuards.isLiteralToken(token)) {
    const text = token.getText();
    const value = literals.get(text);
    // Rejects the literals `empty` and `blank`, because liquidjs represents them as objects with methods.
    return value === undefined ? 'unknown-variable' : { operand: { kind: 'literal', value }, text };
  }
  return TypeGuards.isPropertyAccessToken(token) ? readVariable(token) : 'malformed';
}

type PropertyAccessToken = { readonly variable: unknown; readonly props: readonly unknown[] };

function readVariable({ variable, props }: PropertyAccessToken): ReadOperand | ChainProblem {
  if (TypeGuards.isRangeToken(variable)) return 'range';
  const [root, ...rest] = props;
  if (variable !== undefined || !TypeGuards.isWordToken(root)) return 'malformed';
  const path: Operand[] = [];
  let text = root.content;
  for (const prop of rest) {
    if (TypeGuards.isWordToken(prop)) {
      path.push({ kind: 'literal', value: prop.content });
      text += `.${prop.content}`;
      continue;
    }
    const inner = readOperand(prop);
    if (typeof inner === 'string') return inner;
    path.push(inner.operand);
    text += `[${inner.text}]`;
  }
  return { operand: { kind: 'variable', name: root.content, path }, text };
}

/**
 * Returns the content of an object with each quoted string replaced by an empty string, because braces, brackets and
 * dots inside quotes have no special meaning.
 */
function unquoted(content: string): string {
  return content.replace(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/gsu, "''");
}

/** Returns the nesting depth of round and square brackets. */
function bracketDepth(unquotedContent: string): number {
  let depth = 0;
  let deepest = 0;
  for (const one of unquotedContent) {
    if (one === '[' || one === '(') depth++;
    if ((one === ']' || one === ')') && depth > 0) depth--;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/** Returns how many `{` are open after this piece of text, or -1 if a `}}` closes more braces than are open. */
export function bracesAfter(text: string, openBefore: number): number {
  let open = openBefore;
  for (const [braces] of text.matchAll(/\{+|\}+/g)) {
    if (braces.startsWith('{')) open += braces.length;
    else if (braces.length >= 2 && braces.length > open) return -1;
    else open = Math.max(0, open - braces.length);
  }
  return open;
}
