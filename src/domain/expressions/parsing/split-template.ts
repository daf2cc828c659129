import { Tokenizer, TypeGuards } from 'liquidjs';
import { bracesAfter } from './braces-after.js';
import { unquoted } from './unquoted.js';

/** Literal text, or the inside of one `{{ }}`; `character` counts from 1 in the source. */
export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'object'; readonly content: string; readonly character: number };

export type SplitTemplate =
  | { readonly ok: true; readonly parts: readonly TemplatePart[] }
  | { readonly ok: false; readonly problem: 'tag' | 'braces' | 'quotes'; readonly character?: number };

/**
 * Splits a source into literal text and objects. `{{-` and `-}}` trim the white space of the text beside them, as in
 * Liquid. A `}}` in text is an error unless braces of the text opened before close there (a JSON text may end in `}}`).
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
    // What liquidjs throws quotes the source, so nothing of it is passed on.
    return null;
  }
}

/** Why liquidjs gave up: quotes that never close, as an apostrophe in prose does, or braces. */
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
