import type { OpenAPIV3_1 } from 'openapi-types';

/** A sample request in each language supported by the reference. Readers can copy the code. */
export type RequestSamples = { readonly curl: string; readonly typescript: string; readonly python: string };

/** An operation of the document, with its place in the document. */
export type DocumentedOperation = OpenAPIV3_1.OperationObject & {
  readonly method: string;
  readonly path: string;
  readonly id: string;
};

/**
 * Returns an operation's request as a curl command and as calls to our clients. Variables represent the values that the
 * reader must fill in, such as `$TOKEN_ID`, `tokenId` and `token_id`.
 */
export function requestSamples(operation: DocumentedOperation): RequestSamples {
  return { curl: curlSample(operation), typescript: typescriptSample(operation), python: pythonSample(operation) };
}

/**
 * Returns a curl command. The command reads the key from a file, so that the key does not appear in the shell history.
 */
function curlSample(operation: DocumentedOperation): string {
  const { method, security = [] } = operation;
  const { type, example } = bodyOf(operation);
  const path = withVariables(operation, (words) => `$${words.join('_').toUpperCase()}`);
  const parts = [
    `curl -sS${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} "$STRONGROOM${path}"`,
    ...(security.length === 0 ? [] : ['-H @key.header']),
    ...(type === undefined ? [] : [`-H 'Content-Type: ${type}'`]),
    ...(example === undefined ? [] : [`-d '${JSON.stringify(example).replaceAll("'", `'\\''`)}'`]),
  ];
  return parts.join(' \\\n  ');
}

function typescriptSample(operation: DocumentedOperation): string {
  const { example } = bodyOf(operation);
  const path = pathParameters(operation).map(([name, words]) => `${name}: ${camelCase(words)}`);
  const args = [
    ...(path.length === 0 ? [] : [`path: { ${path.join(', ')} }`]),
    ...(example === undefined ? [] : [`body: ${JSON.stringify(example, null, 2).replaceAll('\n', '\n  ')}`]),
  ];
  const call = (given: string) =>
    `${returnsBody(operation) ? 'const result = ' : ''}await vault.${operation.id}(${given});`;
  if (args.length === 0) return call('');
  return args.join().includes('\n') ? call(`{\n  ${args.join(',\n  ')},\n}`) : call(`{ ${args.join(', ')} }`);
}

function pythonSample(operation: DocumentedOperation): string {
  const { example, schema } = bodyOf(operation);
  const model = schema === undefined ? null : pythonModel(operation.id, schema);
  const ids = pathParameters(operation).map(([, words]) => words.join('_'));
  const value = example === undefined ? '' : pythonText(example);
  const body = model === null ? value : `${model}.from_dict(${value})`;
  const args = [...ids, ...(example === undefined ? [] : [`body=${body}`])];
  const call = `${returnsBody(operation) ? 'result = ' : ''}vault.${snakeCase(operation.id)}(${args.join(', ')})`;
  return model === null ? call : `from strongroom.models import ${model}\n\n${call}`;
}

function bodyOf({ requestBody }: DocumentedOperation) {
  const [[type, media] = []] =
    requestBody !== undefined && 'content' in requestBody ? Object.entries(requestBody.content) : [];
  return { type, schema: media?.schema, example: media?.example as unknown };
}

function returnsBody({ responses = {} }: DocumentedOperation): boolean {
  return !Object.hasOwn(responses, '204');
}

/**
 * Returns each path parameter with the words that form its variable name. For example, the words for `id` in
 * `/tokens/{id}` are `token` and `id`.
 */
function pathParameters({ path }: DocumentedOperation): readonly (readonly [name: string, words: readonly string[]])[] {
  const segments = path.split('/');
  return segments.flatMap((segment, index) => {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name === undefined) return [];
    const owner = segments[index - 1]?.replace(/s$/, '') ?? '';
    return [[name, name === 'id' ? [owner, 'id'] : snakeCase(name).split('_')] as const];
  });
}

function withVariables(operation: DocumentedOperation, variable: (words: readonly string[]) => string): string {
  return pathParameters(operation).reduce(
    (path, [name, words]) => path.replace(`{${name}}`, variable(words)),
    operation.path,
  );
}

/** Returns the name of the Python client's class for a body. Returns null if the body may be any JSON. */
function pythonModel(id: string, schema: OpenAPIV3_1.SchemaObject | OpenAPIV3_1.ReferenceObject): string | null {
  if ('$ref' in schema) return schema.$ref.split('/').at(-1) ?? null;
  return schema.properties === undefined ? null : `${id.charAt(0).toUpperCase()}${id.slice(1)}Body`;
}

/** Returns a JSON value as a Python literal. */
function pythonText(value: unknown, indent = ''): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = `${indent}    `;
  const items = Array.isArray(value)
    ? value.map((item) => pythonText(item, inner))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${pythonText(item, inner)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const line = `${open}${items.join(', ')}${close}`;
  return line.length <= 60 && !line.includes('\n')
    ? line
    : `${open}\n${items.map((item) => `${inner}${item},\n`).join('')}${indent}${close}`;
}

function snakeCase(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
}

function camelCase(words: readonly string[]): string {
  return words.map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join('');
}
