/** The part of a string that searching needs; a test counts through it how often the text is looked at. */
type CodeUnits = Pick<string, 'length' | 'charCodeAt'>;

/**
 * Where `search`, which is not empty, stands in `text`, without overlap. Takes O(text + search) (Knuth, Morris, Pratt).
 * Threat: `indexOf` takes O(text x search) for `aaa…` and `baaa…`, which stops the process for seconds.
 */
export function occurrences(text: CodeUnits, search: CodeUnits): number[] {
  const found: number[] = [];
  if (search.length > text.length) return found;
  const borders = bordersOf(search);
  let matched = 0;
  for (let i = 0; i < text.length; i++) {
    matched = extend(search, borders, matched, text.charCodeAt(i));
    if (matched === search.length) {
      found.push(i + 1 - matched);
      matched = 0;
    }
  }
  return found;
}

/** For each beginning of the search text, how much of its end is its own beginning: what is still matched on a miss. */
function bordersOf(search: CodeUnits): Int32Array {
  const borders = new Int32Array(search.length);
  for (let i = 1; i < search.length; i++) {
    borders[i] = extend(search, borders, borders[i - 1] ?? 0, search.charCodeAt(i));
  }
  return borders;
}

function extend(search: CodeUnits, borders: Int32Array, matchedBefore: number, unit: number): number {
  let matched = matchedBefore;
  while (matched > 0 && search.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
  return search.charCodeAt(matched) === unit ? matched + 1 : matched;
}
