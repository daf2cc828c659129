import { expect, test } from 'vitest';
import { html, paragraphs, prose } from '#src/http/pages/html.js';

test('every value is escaped in elements and in attributes, unless it was built as HTML', () => {
  const hostile = `<b a="1" c='2'>&`;
  const inner = html`<i>${hostile}</i>`;
  expect(inner.html).toBe('<i>&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;</i>');
  expect(html`<p title="${hostile}">${inner}${[inner, inner]}${1}</p>`.html).toBe(
    `<p title="&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;">${inner.html}${inner.html}${inner.html}1</p>`,
  );
});

test('backticks mark code, empty lines separate paragraphs, and the text in both is escaped', () => {
  expect(prose('a `<b>` c').html).toBe('a <code>&lt;b&gt;</code> c');
  expect(paragraphs('<a>\n\n`b`').html).toBe('<p>&lt;a&gt;</p><p><code>b</code></p>');
});
