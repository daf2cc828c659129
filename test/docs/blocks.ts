import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One fenced code block of a page. */
export type Block = {
  /** The path of the page, relative to the root of the project. */
  readonly page: string;
  /** The line of the opening fence, counted from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** The nearest heading above the block, without its number signs. */
  readonly heading: string;
};

/**
 * Returns all pages with code blocks that readers can paste. Decisions (ADRs) are left out, because they describe the
 * past.
 */
export function pagesOf(root: string): readonly string[] {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md') && !path.startsWith('adr'))
    .map((path) => `docs/${path}`);
  return ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', ...docs.sort()];
}

/** Returns true if a block is a diagram. Readers look at a diagram, but do not run it. */
export function isPicture({ language }: Block): boolean {
  return language === 'mermaid';
}

/**
 * Returns the fenced blocks of a page in order.
 * @throws if code is only indented, because it then has no language, or if a fence is never closed
 */
export function blocksOf(root: string, page: string): readonly Block[] {
  return parseBlocks(page, readFileSync(join(root, page), 'utf8'));
}

export function parseBlocks(page: string, markdown: string): readonly Block[] {
  const blocks: Block[] = [];
  let heading = '';
  let open: { line: number; language: string; lines: string[] } | null = null;
  const lines = markdown.split('\n');
  for (const [index, text] of lines.entries()) {
    const fence = /^\s*```(.*)$/.exec(text);
    if (open !== null && fence === null) open.lines.push(text);
    else if (open !== null) {
      blocks.push({ page, line: open.line, language: open.language, text: open.lines.join('\n'), heading });
      open = null;
    } else if (fence !== null) open = { line: index + 1, language: (fence[1] ?? '').trim(), lines: [] };
    else if (/^#+ /.test(text)) heading = text.replace(/^#+ /, '');
    else if (/^ {4}\S/.test(text) && lines[index - 1] === '') {
      throw new Error(`${page}:${index + 1}: indented code says no language; put it between fences`);
    }
  }
  if (open !== null) throw new Error(`${page}:${open.line}: this fence is never closed`);
  return blocks;
}
