import type { OpenAPIV3_1 } from 'openapi-types';
import { type Html, html, prose } from '../pages/html.js';

export type Schema = OpenAPIV3_1.SchemaObject | OpenAPIV3_1.ReferenceObject;

/** The fields of an object with their types; the type alone of anything else. */
export function schemaTable(schema: Schema): Html {
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

/** A type in a few words; named schemas are links. */
export function typeText(schema: Schema): Html {
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
