import { keyedHash } from '../../events/sealing/keyed-hash.js';
import { normalise } from './normalise.js';

const termBytes = 16;

/** A thing that tokens are found by. `within` is a container or one of its ancestors. */
export type Findable =
  | { readonly by: 'all' }
  | { readonly by: 'id' | 'fingerprint'; readonly value: string }
  | { readonly by: 'type' | 'data' | 'created_by' | 'modified_by' | 'container' | 'within'; readonly value: string }
  | { readonly by: 'metadata'; readonly key: string; readonly value: string };

/**
 * The keyed hash that stands for it in a store, 16 bytes in hex. Texts are normalised; ids and fingerprints are
 * compared exactly.
 */
export function termOf(searchKey: Uint8Array, what: Findable): string {
  return keyedHash(searchKey, 'search-term', what.by, ...parts(what)).toString('hex', 0, termBytes);
}

function parts(what: Findable): readonly string[] {
  switch (what.by) {
    case 'all':
      return [];
    case 'id':
    case 'fingerprint':
      return [what.value];
    case 'metadata':
      return [normalise(what.key), normalise(what.value)];
    default:
      return [normalise(what.value)];
  }
}
