import { runAt } from '#src/search/query/lexer.js';
import type { Query } from '#src/search/query/syntax-tree.js';

/** Returns the text of a query. Parsing the text results in the same tree. */
export function printQuery(query: Query): string {
  switch (query.kind) {
    case 'everything':
      return '';
    case 'and':
    case 'or':
      return query.of.map(printOperand).join(query.kind === 'and' ? ' AND ' : ' OR ');
    case 'not':
      return `NOT ${printOperand(query.of)}`;
    case 'text':
      return `${query.field}:${quoted(query.value, 'value')}`;
    case 'metadata':
      return `metadata.${quoted(query.key, 'name')}:${quoted(query.value, 'value')}`;
    case 'container':
      return `container:"${escaped(query.path)}${query.within ? '*' : ''}"`;
    case 'date':
      return `${query.field}:[${instant(query.from)} TO ${instant(query.to)}}`;
  }
}

function printOperand(query: Query): string {
  return query.kind === 'and' || query.kind === 'or' ? `(${printQuery(query)})` : printQuery(query);
}

function quoted(text: string, of: 'name' | 'value'): string {
  const needsNone = text !== '' && !text.includes('*') && runAt(text, 0, of) === text;
  return needsNone ? text : `"${escaped(text)}"`;
}

function escaped(text: string): string {
  return text.replaceAll(/["\\]/g, '\\$&');
}

function instant(ms: number | null): string {
  return ms === null ? '*' : new Date(ms).toISOString();
}
