import { expect, test } from 'vitest';
import { createTemplates } from '#src/console/templates.js';

/**
 * Threat: a caller stores markup that becomes part of a page, or a template shows something that is not in its model,
 * such as a property of a prototype.
 */
test('a template escapes values, and reads only variables, properties and filters that exist', async () => {
  const templates = createTemplates();
  const model = { value: '<b>&"', empty: '', list: [1], object: {} };
  const rendered = (template: string): Promise<string> => templates.parseAndRender(template, model);
  expect(await rendered('{{ value }}')).toBe('&lt;b&gt;&amp;&#34;');
  expect(await rendered('{% if empty %}yes{% else %}no{% endif %}')).toBe('no');
  for (const unknown of ['missing', 'object.missing', 'object.constructor', 'object.__proto__', 'list.map']) {
    await expect(rendered(`{{ ${unknown} }}`), unknown).rejects.toThrow('undefined variable');
  }
  await expect(rendered('{{ value | missing }}')).rejects.toThrow('undefined filter');
});
