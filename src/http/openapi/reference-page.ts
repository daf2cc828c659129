import type { OpenAPIV3_1 } from 'openapi-types';
import { type Html, html, paragraphs, prose, when } from '../pages/html.js';
import { type DocumentedOperation, requestSamples } from './request-samples.js';

/** Renders the whole document as one page. */
export function referencePage(document: OpenAPIV3_1.Document): Html {
  const tags = [...operationsOf(document)];
  const schemas = Object.entries(document.components?.schemas ?? {});
  const { title, description = '' } = document.info;
  return html`<a class="skip" href="#top">Skip to the reference</a>
<div class="reference">
<nav aria-label="Reference">
<a class="title" href="#top">${title}</a>
<form id="search-form" role="search" hidden>
<label for="search">Search</label>
<input type="search" id="search" autocomplete="off" placeholder="operation, field or code" aria-keyshortcuts="/">
<p id="found" class="soft" role="status"></p>
</form>
${tags.map(
  ([tag, operations]) =>
    html`<div class="group"><strong>${tag}</strong><ul>${operations.map(
      ({ id, summary = '' }) => html`<li><a href="#${id}">${summary}</a></li>`,
    )}</ul></div>`,
)}
<div class="group"><strong>Objects</strong><ul>${schemas.map(
    ([name]) => html`<li><a href="#schema-${name}">${name}</a></li>`,
  )}</ul></div>
<a href="/openapi.json">openapi.json</a>
</nav>
<main id="top">
<h1>${title}</h1>
${paragraphs(description)}
<fieldset class="languages">
<legend>Samples in</legend>
${languages.map(
  ([language, label]) =>
    html`<input type="radio" name="language" id="language-${language}"${
      language === 'curl' ? html` checked` : html``
    }><label for="language-${language}">${label}</label>`,
)}
</fieldset>
<p class="sample curl"><code>$STRONGROOM</code> is the address of the service, and the file <code>key.header</code> holds
the line <code>SERVICE-API-KEY: …</code>. Other variables are the ids in the path.</p>
<p class="sample typescript"><code>vault</code> is a client of <code>clients/typescript</code>:
<code>createClient({ address, apiKey })</code>.</p>
<p class="sample python"><code>vault</code> is a client of <code>clients/python</code>:
<code>Strongroom(address, api_key)</code>.</p>
${tags.map(([tag, operations]) => html`<div class="group"><h2>${tag}</h2>${operations.map(operationSection)}</div>`)}
<div class="group"><h2>Objects</h2>
${schemas.map(([name, schema]) => schemaSection(name, schema))}
</div>
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

/** Renders one operation with its request and all its responses. */
function operationSection(operation: DocumentedOperation): Html {
  const { id, method, path, summary = '', description = '', parameters = [], requestBody, responses = {} } = operation;
  return html`<section class="operation" id="${id}">
<h3>${summary}</h3>
<div class="line"><span class="method ${method}">${method.toUpperCase()}</span><code>${path}</code></div>
${paragraphs(description)}
${samplesSection(operation)}
${parametersTable(parameters.filter((parameter) => 'in' in parameter))}
${when(requestBody !== undefined && 'content' in requestBody ? requestBody : undefined, bodySection)}
<h4>Responses</h4>
${Object.entries(responses).map(([status, response]) => ('$ref' in response ? html`` : answer(status, response)))}
</section>`;
}

const languages = [
  ['curl', 'curl'],
  ['typescript', 'TypeScript'],
  ['python', 'Python'],
] as const;

/** Renders the request in all languages. The style sheet shows only the language selected by the reader. */
function samplesSection(operation: DocumentedOperation): Html {
  const samples = requestSamples(operation);
  return html`${languages.map(([language]) => html`<div class="sample ${language}">${codeBlock(samples[language])}</div>`)}`;
}

/** Renders code. The script adds a button that copies the code. */
function codeBlock(code: string): Html {
  return html`<div class="code"><pre tabindex="0"><code>${code}</code></pre></div>`;
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
  const codes = Object.keys(content['application/problem+json']?.examples ?? {});
  const problems = codes.map((code) => html`<a href="/errors/${code}"><code>${code}</code></a>`);
  return html`<details><summary><span class="status">${status}</span>${paragraphs(description)}</summary>
<div>
${problems.length === 0 ? html`` : html`<p>Problems: ${joined(problems, ', ')}</p>`}
<p class="soft">Headers: ${names}</p>
${Object.entries(content).map(([type, media]) =>
  type === 'application/problem+json'
    ? html`<p class="soft">${type}: ${when(media.schema, typeText)}</p>`
    : mediaSection(type, media),
)}
</div></details>`;
}

/** Renders the fields and the examples of a body for one media type. */
function mediaSection(type: string, { schema, example, examples = {} }: OpenAPIV3_1.MediaTypeObject): Html {
  const named = Object.values(examples).map((item) => ('value' in item ? item.value : undefined));
  const shown = [...(example === undefined ? [] : [example]), ...named];
  return html`<p class="soft">${type}</p>
${when(schema, schemaTable)}
${shown.map((value) => codeBlock(JSON.stringify(value, null, 2)))}`;
}

type Schema = OpenAPIV3_1.SchemaObject | OpenAPIV3_1.ReferenceObject;

/** Renders the fields of an object with their types. For any other schema, renders only its type. */
function schemaTable(schema: Schema): Html {
  if ('$ref' in schema || schema.properties === undefined) return html`<p>${typeText(schema)}</p>`;
  const { properties, required = [] } = schema;
  const rows = Object.entries(properties).map(
    ([name, property]) =>
      html`<tr><td><code>${name}</code>${
        required.includes(name) ? html` <span class="soft">required</span>` : html``
      }</td><td>${typeText(property)}</td><td>${prose(property.description ?? '')}</td></tr>`,
  );
  return html`<div class="table"><table><tr><th>Field</th><th>Type</th><th></th></tr>${rows}</table></div>`;
}

/** Renders a type in a few words, with its default, bounds and pattern. The names of named schemas are links. */
function typeText(schema: Schema): Html {
  if ('$ref' in schema) return shapeText(schema);
  const limits = limitsOf(schema);
  if (limits.length === 0) return shapeText(schema);
  return html`${shapeText(schema)} <span class="limits">${joined(limits, ', ')}</span>`;
}

/**
 * Returns the default, the bounds and the pattern of a value. If the value has a format, such as `uuid`, returns the
 * format instead of the pattern.
 */
function limitsOf(schema: OpenAPIV3_1.SchemaObject): readonly Html[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, format, pattern } = schema;
  const value = (label: string, shown: unknown): readonly Html[] =>
    shown === undefined
      ? []
      : [html`${label} <code>${typeof shown === 'string' ? shown : JSON.stringify(shown)}</code>`];
  const count = (label: string, shown: number | undefined, unit: string): readonly Html[] =>
    shown === undefined ? [] : [html`${label} ${shown} ${unit}`];
  const isOfJavaScript = (bound: number | boolean | undefined) => Math.abs(Number(bound)) === Number.MAX_SAFE_INTEGER;
  return [
    ...value('default', schema.default),
    ...value('at least', isOfJavaScript(minimum) ? undefined : minimum),
    ...value('at most', isOfJavaScript(maximum) ? undefined : maximum),
    ...value('more than', exclusiveMinimum),
    ...value('less than', exclusiveMaximum),
    ...count('at least', schema.minLength, 'characters'),
    ...count('at most', schema.maxLength, 'characters'),
    ...count('at least', schema.minItems, 'items'),
    ...count('at most', schema.maxItems, 'items'),
    ...count('at least', schema.minProperties, 'entries'),
    ...count('at most', schema.maxProperties, 'entries'),
    ...value('pattern', format === undefined ? pattern : undefined),
  ];
}

function shapeText(schema: Schema): Html {
  if ('$ref' in schema) {
    const name = schema.$ref.split('/').at(-1) ?? '';
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  const { anyOf, enum: values, const: only, type, format } = schema;
  if (anyOf !== undefined) return joined(anyOf.map(typeText), ' or ');
  if (values !== undefined)
    return joined(
      values.map((value) => html`<code>${String(value)}</code>`),
      ', ',
    );
  if (only !== undefined) return html`<code>${String(only)}</code>`;
  if (type === undefined) return html`any JSON`;
  const types = [type].flat().map((one) => oneTypeText(one, schema));
  return html`${joined(types, ' or ')}${format === undefined ? html`` : html` <span class="soft">${format}</span>`}`;
}

function oneTypeText(type: string, schema: OpenAPIV3_1.SchemaObject): Html {
  if (type === 'array') return 'items' in schema ? html`array of ${typeText(schema.items)}` : html`array`;
  return type === 'object' ? objectText(schema) : html`${type}`;
}

function objectText({ properties, additionalProperties }: OpenAPIV3_1.SchemaObject): Html {
  if (properties !== undefined) {
    const names = Object.keys(properties).map((name) => html`<code>${name}</code>`);
    return html`object of ${joined(names, ', ')}`;
  }
  return typeof additionalProperties === 'object' ? html`map of ${typeText(additionalProperties)}` : html`object`;
}

function joined(items: readonly Html[], separator: string): Html {
  return html`${items.map((item, index) => (index === 0 ? item : html`${separator}${item}`))}`;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** Returns all operations grouped by tag, in document order. */
function operationsOf({ paths = {} }: OpenAPIV3_1.Document): ReadonlyMap<string, readonly DocumentedOperation[]> {
  const all = Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item?.[method];
      return operation === undefined ? [] : [{ ...operation, method, path, id: operation.operationId ?? '' }];
    }),
  );
  const tags = [...new Set(all.map(({ tags: [tag = ''] = [] }) => tag))];
  return new Map(tags.map((tag) => [tag, all.filter(({ tags: [own = ''] = [] }) => own === tag)]));
}
