import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

type Step = { readonly name: string; readonly file: string; readonly depth: number; readonly line: number };

/**
 * The steps of the walkthroughs in CONTRIBUTING.md. A step has the form `- \`function\` in \`file\``. It is indented
 * below the function that calls it.
 */
const steps: Step[] = readFileSync('CONTRIBUTING.md', 'utf8')
  .split('\n')
  .flatMap((text, index) => {
    const found = /^( *)- `(\w+)` in `([\w./-]+\.ts)`: \S/.exec(text);
    const [, indent = '', name = '', file = ''] = found ?? [];
    return found === null ? [] : [{ name, file, depth: indent.length / 2, line: index + 1 }];
  });

/** Returns the source text of every function, method and port with this name in the file. */
function bodiesOf(name: string, file: string): readonly string[] {
  const lines = readFileSync(`src/${file}`, 'utf8').split('\n');
  const declaration = new RegExp(`^ *(export )?(async )?((function\\*?|const|readonly) )?${name}\\b(\\(|<|:| =)`);
  return lines.flatMap((line, start) => {
    if (!declaration.test(line)) return [];
    if (line.endsWith(';')) return [line];
    const indent = /^ */.exec(line)?.[0] ?? '';
    const rest = lines.slice(start + 1);
    // A line such as `}: Type` or `}): Type` ends the parameter list, not the body.
    const end = rest.findIndex((each) => each.startsWith(`${indent}}`) && !/^ *}\)?: /.test(each));
    return end < 0 ? [] : [rest.slice(0, end).join('\n')];
  });
}

test('CONTRIBUTING.md has a walkthrough of each path that a newcomer needs', () => {
  const [section] = /^## Walkthroughs$.*?(?=^## )/ms.exec(readFileSync('CONTRIBUTING.md', 'utf8')) ?? [''];
  const headings = section.match(/^### .*$/gm);
  expect(headings).toEqual([
    '### A create',
    '### A commit on SQLite',
    '### A delete',
    '### A search',
    '### An expiry',
    '### A rebuild',
  ]);
  expect(steps.length).toBeGreaterThan(50);
});

test.each(steps.map((step) => [`line ${step.line}: ${step.name} in ${step.file}`, step] as const))(
  '%s',
  (_name, step) => {
    expect(bodiesOf(step.name, step.file), `src/${step.file} declares no ${step.name}`).not.toEqual([]);
    const above = steps.slice(0, steps.indexOf(step));
    const caller = step.depth === 0 ? undefined : above.findLast(({ depth }) => depth === step.depth - 1);
    if (step.depth === 0) return;
    expect(caller, 'a nested step has a caller').toBeDefined();
    if (caller === undefined) return;
    const calls = bodiesOf(caller.name, caller.file).some((body) => new RegExp(`\\b${step.name}\\b`).test(body));
    expect(calls, `${caller.name} in src/${caller.file} does not call ${step.name}`).toBe(true);
  },
);
