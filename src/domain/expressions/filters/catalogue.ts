import { aliasCard } from './alias-card.js';
import { aliasPreserveFormat, aliasPreserveLength } from './alias-preserve.js';
import { cardBinFilter } from './card-bin.js';
import { cardMask } from './card-mask.js';
import { castToBoolean, castToNumber, castToString } from './casts.js';
import type { Filter } from './filter.js';
import { append, prepend } from './joining.js';
import { json } from './json-path.js';
import { last4Filter } from './last4.js';
import { downcase, upcase } from './letter-case.js';
import { padLeft, padRight } from './pad.js';
import { first, last, size, slice } from './pieces.js';
import { reveal } from './reveal.js';
import { revealLast } from './reveal-last.js';
import { remove, replace, split } from './search-text.js';
import { stringify } from './stringify.js';
import { strip } from './strip.js';

const masks = [last4Filter, revealLast, reveal, cardBinFilter, cardMask];
const aliases = [aliasCard, aliasPreserveFormat, aliasPreserveLength];
const shapes = [stringify, json, padLeft, padRight, castToString, castToNumber, castToBoolean];
const liquid = [remove, replace, split, first, last, slice, upcase, downcase, append, prepend, strip, size];

const byName: ReadonlyMap<string, Filter> = new Map(
  [...masks, ...aliases, ...shapes, ...liquid].map((filter) => [filter.name, filter]),
);

/**
 * Every filter there is: the table of the contract, section 5, and nothing of liquidjs. A test looks that each is tested.
 * @public
 */
export const filterNames: readonly string[] = [...byName.keys()];

export function filterNamed(name: string): Filter | undefined {
  return byName.get(name);
}
