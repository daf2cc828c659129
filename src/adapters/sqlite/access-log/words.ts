import type { SqliteDatabase } from '../open-database.js';

/** Source addresses are words, too, and there may be many. */
const cachedMax = 10_000;

/** Texts by the number they have in one month's file; a new one is added in the transaction under way. */
export function createWords(database: SqliteDatabase) {
  const find = database.prepare('SELECT id FROM words WHERE text = ?').pluck();
  const insert = database.prepare('INSERT INTO words (text) VALUES (?)');
  const known = new Map<string, number>();

  function idOf(text: string): number {
    const cached = known.get(text);
    if (cached !== undefined) return cached;
    const id = Number(find.get(text) ?? insert.run(text).lastInsertRowid);
    if (known.size >= cachedMax) known.clear();
    known.set(text, id);
    return id;
  }

  return {
    idOf,
    idOrNull: (text: string | null): number | null => (text === null ? null : idOf(text)),
    /** After a transaction that was undone: what it added is not there. */
    forget: (): void => known.clear(),
  };
}
