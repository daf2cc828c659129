import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { type Block, blocksOf, isPicture, pagesOf } from './blocks.js';
import { type Before, followBlock } from './follow-block.js';
import { newReader, type Reader, root } from './reader.js';

export const pages = pagesOf(root).map(
  (page) => [page, blocksOf(root, page).filter((block) => !isPicture(block))] as const,
);
const pageLimitMs = 600_000;

/**
 * The blocks in the README up to and including the first search. If a page does not start a service itself, its reader
 * begins after these blocks.
 */
const readme = blocksOf(root, 'README.md');
const firstSteps = readme.slice(0, readme.findLastIndex(({ heading }) => heading === 'The first search') + 1);

/**
 * Runs or checks the blocks in order. Stops at the first block that fails, because later blocks depend on earlier ones.
 */
async function follow(blocks: readonly Block[], reader: Reader): Promise<readonly string[]> {
  let before: Before = null;
  for (const block of blocks) {
    const { wrong, stdout } = await followBlock(block, reader, before);
    if (wrong.length > 0) return wrong;
    before = stdout === undefined ? null : { heading: block.heading, stdout };
  }
  return [];
}

function startsNothing(blocks: readonly Block[]): boolean {
  return !blocks.some(({ language, text }) => language === 'sh' && /npm start|strongroom serve/.test(text));
}

function usesAnotherUser(blocks: readonly Block[]): boolean {
  return blocks.some(({ language, text }) => language === 'sh' && text.includes('sudo -u strongroom'));
}

/**
 * Throws if the tests cannot run commands as another user. Some pages need a second user. Skipping such a page, or
 * following it as a single user, would not prove that it works.
 */
function expectToBecomeAnotherUser(): void {
  try {
    execFileSync('sudo', ['-n', '-u', 'nobody', 'true'], { stdio: 'pipe' });
  } catch {
    throw new Error(
      'this page creates a user and runs as it: run the tests as root, with sudo (`apt-get install sudo`)',
    );
  }
}

/**
 * Follows the pages whose names `isChosen` accepts. Two test files run in parallel, and each one follows some of the
 * pages.
 */
export function followPages(isChosen: (page: string) => boolean): void {
  test.each(pages.filter(([page, blocks]) => blocks.length > 0 && isChosen(page)))(
    'every code block of %s works, from the first to the last',
    async (page, blocks) => {
      if (usesAnotherUser(blocks)) expectToBecomeAnotherUser();
      const reader = await newReader();
      try {
        const start = page.startsWith('docs/') && startsNothing(blocks) ? firstSteps : [];
        expect(await follow([...start, ...blocks], reader)).toEqual([]);
      } finally {
        await reader.close();
      }
    },
    pageLimitMs,
  );
}
