import type { Json } from '../../json.js';
import { spendWork } from '../budget.js';
import { ownProperty } from '../own-property.js';
import { Refusal } from '../refusal.js';
import { valueFilter } from './filter.js';
import { text } from './parameters.js';

/**
 * `json: path`: the one value at a JSONPath of members and indexes (RFC 9535: `$.a['b c'][0][-1]`), null when there is
 * none. Selectors that may match several values (`*`, `..`, slices, unions, filters) are refused. The path is checked
 * at evaluation even when it is a literal, because a mask with such a path is stored and evaluates to null.
 */
export const json = valueFilter('json', [text], (input, [path], { budget }) => {
  // A literal path counts too: it is taken apart at every evaluation.
  spendWork(budget, path.length);
  const steps = pathSteps(path);
  return steps instanceof Refusal ? steps : steps.reduce<Json>(ownProperty, input);
});

const step =
  /\.([\p{L}\p{N}_$-]+)|\[\s*(-?\d{1,10})\s*\]|\[\s*'((?:[^'\\]|\\.)*)'\s*\]|\[\s*"((?:[^"\\]|\\.)*)"\s*\]/uy;

function pathSteps(path: string): readonly (string | number)[] | Refusal {
  const source = path.trim();
  if (!source.startsWith('$')) return new Refusal('json: a path starts with $');
  const steps: (string | number)[] = [];
  const matcher = new RegExp(step);
  matcher.lastIndex = 1;
  while (matcher.lastIndex < source.length) {
    const match = matcher.exec(source);
    if (match === null) return new Refusal('json: the path is not one of members and indexes, which find one value');
    const [, member, index, single, double] = match;
    if (index !== undefined) steps.push(Number(index));
    else steps.push(member ?? (single ?? double ?? '').replace(/\\(.)/gsu, '$1'));
  }
  return steps;
}
