import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** These pages are too long to be cited as a whole. A comment that cites one of them must also cite a heading. */
const citedByHeading: ReadonlySet<string> = new Set(['docs/contract.md', 'docs/design.md']);

/**
 * Returns a page's headings in order, without the Markdown number signs. A line inside a code fence is not a heading.
 */
export function headingsOf(markdown: string): readonly string[] {
  let fenced = false;
  const headings: string[] = [];
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) fenced = !fenced;
    const heading = fenced ? null : /^#{1,6} (.+)$/.exec(line);
    if (heading !== null) headings.push((heading[1] ?? '').replaceAll('`', '').trim());
  }
  return headings;
}

/**
 * Checks the citations in a source text and returns the errors. A citation is either a page's path, optionally followed
 * by headings in double quotes, such as `docs/guide.md, "First steps" and "Limits"`, or `ADR` followed by a number. A
 * citation can span several lines of a comment.
 */
export function wrongCitations(root: string, file: string, source: string): readonly string[] {
  const text = source.replace(/\s*\n\s*(?:\*(?!\/)|\/\/|#)?\s*/g, ' ');
  const wrong: string[] = [];
  for (const { 0: page, index } of text.matchAll(/\bdocs\/[\w/-]+\.md\b/g)) {
    const cited = headingsAfter(text.slice(index + page.length));
    if (!existsSync(join(root, page))) wrong.push(`${file}: there is no page ${page}`);
    else if (cited.length === 0 && citedByHeading.has(page)) wrong.push(`${file}: ${page} is cited without a heading`);
    else {
      const headings = headingsOf(readFileSync(join(root, page), 'utf8'));
      for (const heading of cited.filter((each) => !headings.includes(each)))
        wrong.push(`${file}: ${page} has no heading "${heading}"`);
    }
  }
  // A comment must cite the page in docs/ that contains the rule. Citing a section of "the contract" instead is an
  // error.
  for (const [citation] of text.matchAll(/\b(?:contract|specification|architecture), (?:section|["`])/gi))
    wrong.push(`${file}: ${citation} cites no heading of docs/`);
  const decisions = readdirSync(join(root, 'docs/adr'));
  for (const [citation, number = ''] of text.matchAll(/\bADR (\d+)\b/g))
    if (!decisions.some((name) => name.startsWith(`${number.padStart(4, '0')}-`)))
      wrong.push(`${file}: there is no ${citation}`);
  return wrong;
}

function headingsAfter(text: string): readonly string[] {
  const list = /^(?:(?:,| and|, and) "[^"]+")+/.exec(text)?.[0] ?? '';
  return [...list.matchAll(/"([^"]+)"/g)].map(([, heading = '']) => heading);
}

/** Returns the links on a page that lead to files or headings that do not exist. */
export function wrongLinks(root: string, page: string, markdown: string): readonly string[] {
  const prose = markdown.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');
  const wrong: string[] = [];
  for (const [, target = ''] of prose.matchAll(/\]\(([^()\s]+)\)/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    const [path = '', anchor] = target.split('#');
    const file = path === '' ? join(root, page) : join(root, dirname(page), path);
    if (!existsSync(file)) wrong.push(`${page}: ${relative(root, file)} does not exist`);
    else if (anchor !== undefined && !anchorsOf(readFileSync(file, 'utf8')).includes(anchor))
      wrong.push(`${page}: ${relative(root, file)} has no heading for #${anchor}`);
  }
  return wrong;
}

/** Returns the anchors that GitHub creates for a page's headings. */
function anchorsOf(markdown: string): readonly string[] {
  return headingsOf(markdown).map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Returns the tests that a page cites as evidence, such as `audit/verify.test.ts`, but that do not exist. */
export function wrongTests(root: string, page: string, markdown: string): readonly string[] {
  const cited = [...markdown.matchAll(/`(?:test\/)?([\w/-]+\.test\.ts)`/g)].map(([, path]) => path);
  return [...new Set(cited)]
    .filter((path) => !existsSync(join(root, 'test', path ?? '')))
    .map((path) => `${page}: there is no test/${path}`);
}

/** Returns the paths in the project's folders that a page's text or diagrams mention, but that do not exist. */
export function wrongPaths(root: string, page: string, markdown: string): readonly string[] {
  const named = [
    ...markdown.matchAll(/(?<![\w./#-])(?:src|test|scripts|deploy|clients|examples|bench)\/[\w/-]+(?:\.\w+)*/g),
  ].map(([path]) => path);
  // `wrongTests` checks the tests.
  return [...new Set(named)]
    .filter((path) => !path.endsWith('.test.ts') && !existsSync(join(root, path)))
    .map((path) => `${page}: there is no ${path}`);
}
