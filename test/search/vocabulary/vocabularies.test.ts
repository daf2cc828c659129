import { describe, expect, test } from 'vitest';
import { createVocabularies } from '#src/search/vocabulary/vocabularies.js';
import { wordList } from '#src/search/vocabulary/word-list.js';

function words(key: string) {
  return { keys: wordList([key]), containers: wordList([]) };
}

const never = () => Promise.reject(new Error('asked again'));

describe('the vocabularies in a process', () => {
  test('are kept for ten minutes, counted from the start of the collection', async () => {
    const vocabularies = createVocabularies();
    const first = words('first');
    expect(await vocabularies.of('t', 1_000, async () => first)).toBe(first);
    expect(await vocabularies.of('t', 600_999, never)).toBe(first);
    const second = words('second');
    expect(await vocabularies.of('t', 601_000, async () => second)).toBe(second);
  });

  test('are waited for briefly; after that, the request continues without words, and the next request gets them', async () => {
    const vocabularies = createVocabularies();
    let finish = (): void => undefined;
    const late = words('late');
    const slow = () =>
      new Promise<typeof late>((resolve) => {
        finish = () => resolve(late);
      });
    expect(await vocabularies.of('t', 0, slow)).toBeNull();
    expect(await vocabularies.of('t', 0, never), 'collected once').toBeNull();
    finish();
    await vocabularies.idle();
    expect(await vocabularies.of('t', 0, never)).toBe(late);
  });

  /** Threat: an attacker who may see suggestions reads the container of an erased token. */
  test('are collected again after a token has ended, even if it ended during the collection', async () => {
    const vocabularies = createVocabularies(() => 0);
    const [first, second, third] = [words('first'), words('second'), words('third')];
    await vocabularies.of('t', 0, async () => first);
    vocabularies.tokensEnded('other');
    expect(await vocabularies.of('t', 0, never)).toBe(first);
    vocabularies.tokensEnded('t');
    const overtaken = async () => {
      vocabularies.tokensEnded('t');
      return second;
    };
    expect(await vocabularies.of('t', 0, () => Promise.resolve().then(overtaken))).toBe(second);
    expect(await vocabularies.of('t', 0, async () => third)).toBe(third);
    expect(await vocabularies.of('t', 0, never)).toBe(third);
  });

  /** Threat: a caller that deletes and searches in turn makes the vault decrypt thousands of tokens for each search. */
  test('of a large tenant are collected again after a while, however many tokens have ended', async () => {
    let nowMs = 0;
    const vocabularies = createVocabularies(() => nowMs);
    const [first, second] = [words('first'), words('second')];
    await vocabularies.of('t', 0, async () => {
      nowMs = 300;
      return first;
    });
    vocabularies.tokensEnded('t');
    nowMs = 300 + 20 * 300 - 1;
    expect(await vocabularies.of('t', 0, never)).toBe(first);
    nowMs += 1;
    expect(await vocabularies.of('t', 0, async () => second)).toBe(second);
  });

  /** If a collection is still running when a tenant is destroyed, it must not bring back the tenant's words. */
  test('are removed when their tenant is dropped, even if its words are still being collected', async () => {
    const vocabularies = createVocabularies();
    await vocabularies.of('t', 0, async () => words('kept'));
    vocabularies.drop('t');
    let finish = (): void => undefined;
    const collecting = vocabularies.of(
      't',
      0,
      () =>
        new Promise((resolve) => {
          finish = () => resolve(words('late'));
        }),
    );
    vocabularies.drop('t');
    finish();
    expect(await collecting).toBeNull();
    const fresh = words('fresh');
    expect(await vocabularies.of('t', 0, async () => fresh)).toBe(fresh);
  });

  test('are dropped if they were least recently used, and at most two are collected at the same time', async () => {
    const vocabularies = createVocabularies();
    for (let i = 0; i <= 100; i += 1) await vocabularies.of(`t${i}`, 0, async () => words('k'));
    const again = words('again');
    expect(await vocabularies.of('t1', 0, never)).not.toBeNull();
    expect(await vocabularies.of('t0', 0, async () => again)).toBe(again);
    const stuck = () => new Promise<null>(() => undefined);
    await Promise.all([vocabularies.of('a', 0, stuck), vocabularies.of('b', 0, stuck)]);
    expect(await vocabularies.of('c', 0, never)).toBeNull();
  });

  test('fail only for the requests that wait for them, and the next request collects again', async () => {
    const vocabularies = createVocabularies();
    await expect(vocabularies.of('t', 0, never)).rejects.toThrow('asked again');
    const fresh = words('fresh');
    expect(await vocabularies.of('t', 0, async () => fresh)).toBe(fresh);
  });
});
