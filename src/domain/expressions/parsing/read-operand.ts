import { TypeGuards } from 'liquidjs';
import type { ChainProblem, Operand } from './chain.js';

/** An operand and the text it was read from without white space, for the check that nothing was skipped. */
export type ReadOperand = { readonly operand: Operand; readonly text: string };

const literals = new Map([
  ['true', true],
  ['false', false],
  ['nil', null],
  ['null', null],
]);

/** Turns one value token of liquidjs into an operand of ours. */
export function readOperand(token: unknown): ReadOperand | ChainProblem {
  if (TypeGuards.isRangeToken(token)) return 'range';
  if (TypeGuards.isQuotedToken(token) || TypeGuards.isNumberToken(token)) {
    return { operand: { kind: 'literal', value: token.content }, text: token.getText() };
  }
  if (TypeGuards.isLiteralToken(token)) {
    const text = token.getText();
    const value = literals.get(text);
    // liquidjs also knows `empty` and `blank`, which are objects with methods.
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
