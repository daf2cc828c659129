import { expect, test } from 'vitest';
import { adaptations } from './adaptations.js';
import { followPages, pages } from './follow-pages.js';

const scripts = pages.flatMap(([, blocks]) => blocks).filter(({ language }) => language === 'sh');

// The how-to pages are followed in how-to-pages.test.ts.
followPages((page) => !page.startsWith('docs/how-to/'));

test.each(adaptations.map(({ says, because }) => [String(says), says, because] as const))(
  'a page still needs the adaptation of %s (%#)',
  (_name, says, because) => {
    const used = scripts.some(({ text }) => text.search(says) >= 0);
    expect(used, `${because}: no block contains it any longer, so remove it from adaptations.ts`).toBe(true);
  },
);
