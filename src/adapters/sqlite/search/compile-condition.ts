import type { WeighedNode } from './weighed-plan.js';

/** SQL that is true or false of one `seq`, and the values of its question marks in order. */
export type Condition = { readonly sql: string; readonly values: readonly (Buffer | number)[] };

/**
 * The condition that a token matches, as look-ups by `p.seq`, the likelier to decide first. The text depends on the
 * shape of the plan alone, so that prepared statements can be kept. Scalar subqueries, because SQLite turns EXISTS into
 * joins, whose order it would choose by itself.
 */
export function compileCondition(node: WeighedNode): Condition {
  switch (node.is) {
    case 'term':
      return anyTerm([node.term]);
    case 'date':
      return compileDate(node);
    case 'not': {
      const { sql, values } = compileCondition(node.of);
      return { sql: `NOT ${sql}`, values };
    }
    case 'and':
      return join([...node.of].sort((a, b) => weight(a) - weight(b)).map(compileCondition), ' AND ');
    case 'or': {
      const terms = node.of.filter((child) => child.is === 'term').map(({ term }) => term);
      const others = node.of.filter((child) => child.is !== 'term').map(compileCondition);
      return join(terms.length === 0 ? others : [anyTerm(terms), ...others], ' OR ');
    }
  }
}

function anyTerm(terms: readonly Buffer[]): Condition {
  const marks = terms.map(() => '?').join();
  return {
    sql: `((SELECT 1 FROM postings q WHERE q.term IN (${marks}) AND q.seq = p.seq LIMIT 1) IS NOT NULL)`,
    values: terms,
  };
}

function compileDate({ column, from, to }: Extract<WeighedNode, { is: 'date' }>): Condition {
  const bounds = [
    ...(from === null ? [] : [{ sql: `t.${column} >= ?`, value: from }]),
    ...(to === null ? [] : [{ sql: `t.${column} < ?`, value: to }]),
  ];
  const sql = [`t.${column} IS NOT NULL`, ...bounds.map((bound) => bound.sql)].join(' AND ');
  return {
    sql: `((SELECT 1 FROM token_rows t WHERE t.seq = p.seq AND ${sql}) IS NOT NULL)`,
    values: bounds.map(({ value }) => value),
  };
}

function join(conditions: readonly Condition[], operator: string): Condition {
  return {
    sql: `(${conditions.map(({ sql }) => sql).join(operator)})`,
    values: conditions.flatMap(({ values }) => values),
  };
}

/** The rarest term refuses most. */
function weight(node: WeighedNode): number {
  return node.is === 'term' ? node.count : Number.MAX_SAFE_INTEGER;
}
