/** Text that is already HTML. */
export type Html = { readonly html: string };
type Value = string | number | Html | readonly Html[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Builds HTML from a template. Escapes every value except HTML that this function produced. */
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

/** Returns `make(value)`. Returns empty HTML if the value is undefined. */
export function when<T>(value: T | undefined, make: (value: T) => Html): Html {
  return value === undefined ? html`` : make(value);
}

/** Renders a sentence. Text in backticks becomes a `code` element. */
export function prose(text: string): Html {
  const parts = text.split('`').map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`));
  return html`${parts}`;
}

/** Renders text as paragraphs. Empty lines separate the paragraphs. */
export function paragraphs(text: string): Html {
  return html`${text.split('\n\n').map((paragraph) => html`<p>${prose(paragraph)}</p>`)}`;
}
