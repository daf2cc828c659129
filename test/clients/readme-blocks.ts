import { readFileSync } from 'node:fs';

/** Returns the code blocks of a page in one language. Throws if it has none, so that a renamed language is noticed. */
export function blocksIn(page: string, language: string): readonly string[] {
  const text = readFileSync(page, 'utf8');
  const blocks = [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, name]) => name === language);
  if (blocks.length === 0) throw new Error(`${page} has no block in ${language}`);
  return blocks.map(([, , code = '']) => code);
}
