import { QueryError } from './query-error.js';

/** What begins a part of a quoted text that is more than itself, or ends it; a lone surrogate is no character. */
const special = /["\\]|\p{Cs}/gu;

/** Reads a text in double quotes, whose first is at `at`; `\"` and `\\` stand for `"` and `\`. Throws QueryError. */
export function readQuoted(text: string, at: number): { readonly text: string; readonly end: number } {
  const parts: string[] = [];
  for (let from = at + 1; ; ) {
    special.lastIndex = from;
    const match = special.exec(text);
    if (match === null) throw new QueryError('the closing quote is missing', at);
    parts.push(text.slice(from, match.index));
    const [found] = match;
    if (found === '"') return { text: parts.join(''), end: match.index + 1 };
    const escaped = text.charAt(match.index + 1);
    if (found !== '\\') throw new QueryError('the text is not well-formed Unicode', match.index);
    if (escaped !== '"' && escaped !== '\\') {
      throw new QueryError('in quotes a backslash is followed by a quote or a backslash', match.index);
    }
    parts.push(escaped);
    from = match.index + 2;
  }
}
