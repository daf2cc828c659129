import type { OpenAPIV3_1 } from 'openapi-types';
import { type Html, html, paragraphs, prose, when } from '../pages/html.js';
import { curlText } from './curl-text.js';
import { mediaSection } from './media-section.js';
import type { DocumentedOperation } from './operations-of.js';
import { typeText } from './schema-table.js';

/** One operation: what to send, and everything that may come back. */
export function operationSection(operation: DocumentedOperation): Html {
  const { id, method, path, summary = '', description = '', parameters = [], requestBody, responses = {} } = operation;
  return html`<section class="operation" id="${id}">
<h3>${summary}</h3>
<div class="line"><span class="method ${method}">${method.toUpperCase()}</span><code>${path}</code></div>
${paragraphs(description)}
<pre><code>${curlText(operation)}</code></pre>
${parametersTable(parameters.filter((parameter) => 'in' in parameter))}
${when(requestBody !== undefined && 'content' in requestBody ? requestBody : undefined, bodySection)}
<h4>Answers</h4>
${Object.entries(responses).map(([status, response]) => ('$ref' in response ? html`` : answer(status, response)))}
</section>`;
}

function parametersTable(parameters: readonly OpenAPIV3_1.ParameterObject[]): Html {
  if (parameters.length === 0) return html``;
  const rows = parameters.map(
    ({ name, in: place, required, schema, description = '' }) =>
      html`<tr><td><code>${name}</code>${
        required === true ? html` <span class="soft">required</span>` : html``
      }</td><td>${place}: ${when(schema as OpenAPIV3_1.SchemaObject | undefined, typeText)}</td><td>${prose(description)}</td></tr>`,
  );
  return html`<h4>Parameters</h4>
<div class="table"><table><tr><th>Name</th><th>In, type</th><th></th></tr>${rows}</table></div>`;
}

function bodySection({ content }: OpenAPIV3_1.RequestBodyObject): Html {
  return html`<h4>Body</h4>${Object.entries(content).map(([type, media]) => mediaSection(type, media))}`;
}

function answer(status: string, { description, headers = {}, content = {} }: OpenAPIV3_1.ResponseObject): Html {
  const names = Object.keys(headers).map((name) => html`<code>${name}</code> `);
  return html`<details><summary><span class="status">${status}</span>${paragraphs(description)}</summary>
<div>
<p class="soft">Headers: ${names}</p>
${Object.entries(content).map(([type, media]) => mediaSection(type, media))}
</div></details>`;
}
