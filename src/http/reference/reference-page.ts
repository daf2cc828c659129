import type { OpenAPIV3_1 } from 'openapi-types';
import { type Html, html, paragraphs } from '../pages/html.js';
import { operationSection } from './operation-section.js';
import { operationsOf } from './operations-of.js';
import { type Schema, schemaTable } from './schema-table.js';

/** The whole document as one page. */
export function referencePage(document: OpenAPIV3_1.Document): Html {
  const tags = [...operationsOf(document)];
  const schemas = Object.entries(document.components?.schemas ?? {});
  const { title, description = '' } = document.info;
  return html`<div class="reference">
<nav>
<a class="title" href="#top">${title}</a>
${tags.map(
  ([tag, operations]) =>
    html`<strong>${tag}</strong><ul>${operations.map(
      ({ id, summary = '' }) => html`<li><a href="#${id}">${summary}</a></li>`,
    )}</ul>`,
)}
<strong>Objects</strong><ul>${schemas.map(([name]) => html`<li><a href="#schema-${name}">${name}</a></li>`)}</ul>
<a href="/openapi.json">openapi.json</a>
</nav>
<main id="top">
<h1>${title}</h1>
${paragraphs(description)}
<p>In the examples <code>$STRONGROOM</code> is the address of the service, and the file <code>key.header</code> holds
the line <code>SERVICE-API-KEY: …</code>.</p>
${tags.map(([tag, operations]) => html`<h2>${tag}</h2>${operations.map(operationSection)}`)}
<h2>Objects</h2>
${schemas.map(([name, schema]) => schemaSection(name, schema))}
</main>
</div>`;
}

function schemaSection(name: string, schema: Schema): Html {
  return html`<section class="operation" id="schema-${name}">
<h3>${name}</h3>
${paragraphs(schema.description ?? '')}
${schemaTable(schema)}
</section>`;
}
