import { readFileSync } from 'node:fs';

/**
 * Returns a page's code blocks in one language. Throws if the page has no such block, so a test fails if the language
 * is renamed.
 */
export function blocksIn(page: string, language: string): readonly string[] {
  const text = readFileSync(page, 'utf8');
  const blocks = [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, name]) => name === language);
  if (blocks.length === 0) throw new Error(`${page} has no block in ${language}`);
  return blocks.map(([, , code = '']) => code);
}

/**
 * Returns the samples in one language from a service's reference page. Throws if the page has no sample in that
 * language.
 */
export async function samplesAt(address: string, language: 'typescript' | 'python'): Promise<readonly string[]> {
  const page = await (await fetch(`${address}/docs`)).text();
  const samples = page.matchAll(
    new RegExp(`class="sample ${language}"><div class="code"><pre[^>]*><code>(.*?)</code>`, 'gs'),
  );
  const texts = [...samples].map(([, code = '']) =>
    code.replaceAll(/&[a-z0-9#]+;/g, (entity) => characters[entity] ?? ''),
  );
  if (texts.length === 0) throw new Error(`the reference has no sample in ${language}`);
  return texts;
}

const characters: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};
