/** Text that is HTML already. */
export type Html = { readonly html: string };
type Value = string | number | Html | readonly Html[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A template of HTML: every value in it is text and is escaped, unless it was made by this function itself. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return { html: parts.map((part, index) => part + (index < values.length ? show(values[index] ?? '') : '')).join('') };
}

function show(value: Value): string {
  if (typeof value === 'string' || typeof value === 'number') return escaped(String(value));
  return 'html' in value ? value.html : value.map((item) => item.html).join('');
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** Nothing, or what `make` makes of the value. */
export function when<T>(value: T | undefined, make: (value: T) => Html): Html {
  return value === undefined ? html`` : make(value);
}

/** A sentence with `code` in it. */
export function prose(text: string): Html {
  const parts = text.split('`').map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`));
  return html`${parts}`;
}

/** Paragraphs, with an empty line between them. */
export function paragraphs(text: string): Html {
  return html`${text.split('\n\n').map((paragraph) => html`<p>${prose(paragraph)}</p>`)}`;
}
