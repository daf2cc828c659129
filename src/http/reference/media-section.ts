import type { OpenAPIV3_1 } from 'openapi-types';
import { type Html, html, when } from '../pages/html.js';
import { schemaTable } from './schema-table.js';

/** A body of one media type: its fields and its examples. */
export function mediaSection(type: string, { schema, example, examples = {} }: OpenAPIV3_1.MediaTypeObject): Html {
  const named = Object.values(examples).map((item) => ('value' in item ? item.value : undefined));
  const shown = [...(example === undefined ? [] : [example]), ...named];
  return html`<p class="soft">${type}</p>
${when(schema, schemaTable)}
${shown.map((value) => html`<pre><code>${JSON.stringify(value, null, 2)}</code></pre>`)}`;
}
