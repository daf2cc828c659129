import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isExpired } from '../../domain/token/token-state.js';
import { latestNow } from '../../ports/clock.js';
import { planSearch } from '../../search/plan-search.js';
import { buildWordList, containersInUse, type TenantWords, type WordList } from '../../search/vocabulary/word-list.js';
import { contentUnlessLost } from '../../vault/open-token.js';
import { type SearchTermKeyDeps, withSearchTermKey } from '../../vault/tenant-keys.js';
import { unwrap } from '../../vault/unwrap.js';
import type { Vault } from '../../vault/vault.js';
import type { TokenView } from '../../views/token-view.js';

export type WordsDeps = SearchTermKeyDeps & Pick<Vault, 'clock' | 'rows'>;

/**
 * The maximum number of rows to read, newest first. Each row is decrypted with a different key, so reading this many
 * rows takes a few tenths of a second.
 */
const rowsMax = 2_000;
/**
 * The maximum total size of the ciphertexts to decrypt. The number of rows alone is not a sufficient limit, because
 * tokens can be large.
 */
const ciphertextBytesMax = 32 * 1024 * 1024;
const pageSize = 20;
/** The maximum total size of the contents on a page. Decrypting a page of this size takes less than one time slice. */
const pageBytesMax = 512 * 1024;
/**
 * The maximum number of words of each kind. Together with the field names and type names, there are at most 10,000
 * words. Metadata keys and containers have separate limits, so that neither kind displaces the other.
 */
const wordsMaxOfKind = 4_990;
/**
 * The maximum total length of the words of each kind. Long words take up the most memory in lunr: 5,000 words of 100
 * characters each would take up 95 MB.
 */
const charactersMaxOfKind = 100_000;
/** The length of a time slice in ms. After each time slice, other requests can run. */
const sliceMs = 4;

/**
 * Returns the metadata keys and containers of a tenant's newest live tokens. The result contains no values, ids or
 * data. Never decrypts a cvc. Throws the same errors as a search for the tenant's tokens.
 */
export async function collectWords(vault: WordsDeps, tenantId: string): Promise<TenantWords> {
  const turn = slices();
  const keys = createBounded();
  const containers = createBounded();
  let ciphertextBytes = 0;
  for await (const view of newestRows(vault, tenantId)) {
    const { life } = view.state;
    ciphertextBytes += view.content?.length ?? 0;
    if (ciphertextBytes > ciphertextBytesMax) break;
    const open =
      life === null || isExpired(life, latestNow(vault.clock)) ? null : await contentUnlessLost(vault, view, life);
    const { metadata = null, containers: paths = [] } = open === null ? {} : unwrap(open.content);
    keys.add(Object.keys(metadata ?? {}));
    containers.add(paths);
    await turn();
  }
  return {
    keys: await built(buildWordList(keys.words), turn),
    containers: await built(buildWordList(containersInUse(containers.words, wordsMaxOfKind)), turn),
  };
}

/**
 * Yields rows, newest first. Reads the rows page by page, because their contents can be large. If a token is created
 * between two pages, a token may be yielded twice.
 */
async function* newestRows(vault: WordsDeps, tenantId: string): AsyncGenerator<TokenView> {
  for (let offset = 0; offset < rowsMax; ) {
    const page = { now: latestNow(vault.clock), offset, limit: pageSize, contentBytesMax: pageBytesMax };
    const { rows, later } = await withSearchTermKey(vault, tenantId, (searchKey) =>
      vault.rows.search(planSearch(searchKey, tenantId, { kind: 'everything' }, 'everything'), page),
    );
    yield* rows;
    offset += rows.length;
    // `later` contains the rows of the page that are too large for it. The next page begins with them.
    if (later.length === 0 && rows.length < pageSize) return;
  }
}

function createBounded(): { readonly words: ReadonlySet<string>; add(more: readonly string[]): void } {
  const words = new Set<string>();
  let characters = 0;
  return {
    words,
    add(more) {
      for (const word of more) {
        if (words.has(word) || words.size === wordsMaxOfKind || characters + word.length > charactersMaxOfKind)
          continue;
        words.add(word);
        characters += word.length;
      }
    },
  };
}

async function built(steps: Generator<undefined, WordList>, turn: () => Promise<void>): Promise<WordList> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await turn();
  }
}

/**
 * Returns a function to await between small pieces of work. When the current time slice is used up, this function lets
 * other requests run. These slices are outside the turns of the tenants (`Turns`): a collection goes on after its
 * request was answered, and `Vocabularies` limits how many run and how often.
 */
function slices(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < sliceMs) return;
    await nextTurn();
    since = performance.now();
  };
}
