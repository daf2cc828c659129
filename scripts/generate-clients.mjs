// Generates the parts of the clients that are derived from the OpenAPI document: clients/typescript/src/generated and
// clients/python/strongroom/generated. With --check, the script only reports whether both folders are up to date. Pass
// `typescript` or `python` to select only that client. The Python generator needs scripts/python-environment.sh.
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openEmbedded } from '#src/compose/embedded/embedded.js';
import { openApiDocument } from '#src/http/openapi/openapi.js';
import { createApp } from '#src/http/server/app.js';

const args = process.argv.slice(2);
const isCheck = args.includes('--check');
const languages = ['typescript', 'python'].filter((name) => args.includes(name) || !args.some((arg) => arg[0] !== '-'));
const folders = { typescript: 'clients/typescript/src/generated', python: 'clients/python/strongroom/generated' };
const root = resolve(import.meta.dirname, '..');
const work = mkdtempSync(join(tmpdir(), 'strongroom-clients-'));

try {
  const served = await servedDocument();
  const document = withoutErrors(served);
  let isStale = false;
  for (const language of languages) {
    const made = join(work, language);
    mkdirSync(made);
    await (language === 'typescript' ? typescript(document, served, made) : python(document, made));
    const target = join(root, folders[language]);
    if (!isCheck) {
      rmSync(target, { recursive: true, force: true });
      cpSync(made, target, { recursive: true });
      continue;
    }
    for (const difference of differences(made, target)) {
      isStale = true;
      console.error(`${folders[language]}/${difference}: not what the OpenAPI document gives`);
    }
  }
  if (isStale) {
    console.error('The API changed and the clients did not, or generated code was edited. Run npm run clients.');
    process.exitCode = 1;
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** Returns the OpenAPI document that the built service serves with its default settings. */
async function servedDocument() {
  const service = await openEmbedded({
    dataDir: join(work, 'data'),
    mode: 'any',
    rootKey: randomBytes(32),
    clock: { now: () => Date.now() },
    anchor: null,
    cvcRetentionMs: 3_600_000,
    keptMs: 0,
    acceptsOlderLog: false,
    onError: (error) => console.error(error),
    onBroken: (error) => console.error(error),
    onNotice: () => undefined,
  });
  const app = createApp(service, {
    headerNames: {
      apiKey: ['service-api-key'],
      traceId: ['service-trace-id'],
      idempotencyKey: ['service-idempotency-key', 'idempotency-key'],
    },
    acceptsBearer: false,
    corsOrigins: [],
    trustedProxies: [],
    behindTlsProxy: false,
    tls: null,
    log: { request: () => undefined, error: () => undefined },
  });
  await app.ready();
  const document = structuredClone(openApiDocument(app));
  await app.close();
  await service.close();
  return document;
}

/**
 * Returns the document without examples, response headers and unsuccessful responses. The clients turn an unsuccessful
 * response into an error before generated code sees it.
 */
function withoutErrors(document) {
  const smaller = structuredClone(document);
  for (const operation of operationsOf(smaller)) {
    operation.responses = Object.fromEntries(
      Object.entries(operation.responses).filter(([status]) => status.startsWith('2')),
    );
    for (const response of Object.values(operation.responses)) delete response.headers;
    for (const { content = {} } of [operation.requestBody ?? {}, ...Object.values(operation.responses)]) {
      for (const media of Object.values(content)) {
        delete media.example;
        delete media.examples;
      }
    }
  }
  return smaller;
}

function operationsOf({ paths }) {
  return Object.values(paths).flatMap((item) => Object.values(item));
}

async function typescript(document, served, folder) {
  const home = join(root, 'clients/typescript');
  installOnce(home);
  const library = pathToFileURL(join(home, 'node_modules/openapi-typescript/dist/index.mjs')).href;
  const { default: openapiTypeScript, astToString } = await import(library);
  const notice = '// Generated from the OpenAPI document by scripts/generate-clients.mjs. Do not edit.\n';
  writeFileSync(join(folder, 'schema.ts'), `${notice}${astToString(await openapiTypeScript(document))}`);

  const all = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
  const table = all.map(({ path, method, operation }) => {
    const { operationId, parameters = [], requestBody } = operation;
    const [contentType = null] = Object.keys(requestBody?.content ?? {});
    const takesIdempotencyKey = parameters.some(({ name }) => name === 'SERVICE-IDEMPOTENCY-KEY');
    const [returns = null] = Object.values(operation.responses).flatMap(({ content = {} }) => Object.keys(content));
    const [status = 0] = Object.keys(operation.responses).map(Number);
    const entry = {
      method: method.toUpperCase(),
      path,
      contentType,
      status,
      returns,
      takesIdempotencyKey,
      isRepeatable: method === 'get' || (takesIdempotencyKey && !issuesKey(document, operation)),
      queryObjects: queryObjectsOf(parameters),
      paging: pagingOf(document, operation),
      hasEndDate: parameters.some(({ name }) => name === 'end_date'),
    };
    return `  ${operationId}: ${JSON.stringify(entry)},\n`;
  });
  const codes = operationsOf(served)
    .flatMap(({ responses }) => Object.values(responses))
    .flatMap(({ content = {} }) => Object.keys(content['application/problem+json']?.examples ?? {}));
  writeFileSync(
    join(folder, 'operations.ts'),
    `${notice}
/** How each operation is sent, and which of its arguments select the page. */
export const operations = {
${table.join('')}} as const;

/** The codes of the problems that the service returns. */
export const problemCodes = ${JSON.stringify([...new Set(codes)].sort(), null, 2)} as const;
`,
  );
}

/** Returns the schema of a JSON body. */
function schemaOf(document, content) {
  const schema = content?.['application/json']?.schema ?? {};
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : document.components.schemas[name];
}

/** Returns true if the response contains an API key. The service does not repeat the key in the response to a retry. */
function issuesKey(document, { responses }) {
  return Object.values(responses).some(({ content }) => schemaOf(document, content).properties?.key !== undefined);
}

/**
 * Returns the query parameters that are objects, each with the prefix of its members' names. Throws if the names follow
 * a different rule, which neither this function nor the template of the Python client could translate.
 */
function queryObjectsOf(parameters) {
  const objects = parameters.filter((parameter) => parameter.in === 'query' && parameter.schema.type === 'object');
  return Object.fromEntries(
    objects.map(({ name, schema }) => {
      const { pattern } = schema.propertyNames;
      const [, prefix] = /^\^(\w+)\\\.\.$/.exec(pattern) ?? [];
      if (prefix === undefined) throw new Error(`The names in ${name} match ${pattern}, which is not a prefix.`);
      return [name, `${prefix}.`];
    }),
  );
}

/**
 * Returns the operation's argument that selects a page: a number (`page`) or a cursor (`start`). Returns null if the
 * operation does not return pages.
 */
function pagingOf(document, { parameters = [], requestBody, responses }) {
  if (schemaOf(document, responses[200]?.content)?.properties?.pagination === undefined) return null;
  const inQuery = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  const inBody = Object.keys(schemaOf(document, requestBody?.content).properties ?? {});
  for (const name of ['page', 'start']) {
    if (inQuery.includes(name)) return `query.${name}`;
    if (inBody.includes(name)) return `body.${name}`;
  }
  throw new Error('an operation returns pages, but has no parameter for the page');
}

/** Installs the generator for the TypeScript client, unless the version from the lock file is already installed. */
function installOnce(home) {
  const installed = join(home, 'node_modules/.package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(home, 'package-lock.json')).mtimeMs) return;
  const args = ['ci', '--no-fund', '--no-audit', '--ignore-scripts', '--loglevel', 'error'];
  const { status } = spawnSync('npm', args, { cwd: home, stdio: 'inherit' });
  if (status === 0) return;
  console.error(
    `The generator for the TypeScript client cannot be installed in ${relative(root, home)}: see the error of npm ` +
      'above. The first installation needs a connection to the package registry.',
  );
  rmSync(work, { recursive: true, force: true });
  process.exit(1);
}

/**
 * Returns a folder with our templates and a changed copy of the generator's template for models. With the original
 * template, the `repr` of a model would print the sensitive data.
 */
function pythonTemplates(home) {
  const folder = join(work, 'templates');
  cpSync(join(home, 'templates'), folder, { recursive: true });
  const library = join(home, '.venv/lib');
  const [version = ''] = readdirSync(library);
  const file = join(library, version, 'site-packages/openapi_python_client/templates/model.py.jinja');
  const parts = readFileSync(file, 'utf8').split('\n@_attrs_define\n');
  if (parts.length !== 2) throw new Error('the template of a model is not the known one: check how it shows data');
  writeFileSync(join(folder, 'model.py.jinja'), parts.join('\n@_attrs_define(repr=False)\n'));
  return folder;
}

function python(document, folder) {
  const home = join(root, 'clients/python');
  const input = join(work, 'openapi.json');
  // Ids are plain strings in every parameter. Without the format `uuid`, the generator makes them strings in every
  // response too.
  const isUuid = (name, value) => name === 'format' && value === 'uuid';
  writeFileSync(
    input,
    JSON.stringify(document, (name, value) => (isUuid(name, value) ? undefined : value)),
  );
  execFileSync(
    join(home, '.venv/bin/openapi-python-client'),
    [
      'generate',
      '--path',
      input,
      '--output-path',
      folder,
      '--overwrite',
      '--meta',
      'none',
      '--config',
      join(home, 'generator.yml'),
      '--custom-template-path',
      pythonTemplates(home),
      '--fail-on-warning',
    ],
    {
      // The generator runs ruff to format its output.
      env: { ...process.env, PATH: `${join(home, '.venv/bin')}${delimiter}${process.env.PATH}` },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  rmSync(join(folder, '.ruff_cache'), { recursive: true, force: true });
}

/** Returns the files that differ between the two folders, or that only one of them contains. */
function differences(made, committed) {
  const files = (folder) =>
    existsSync(folder)
      ? readdirSync(folder, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile() && !entry.name.endsWith('.pyc'))
          .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
      : [];
  const all = new Set([...files(made), ...files(committed)]);
  const text = (folder, file) => (existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8') : null);
  return [...all].filter((file) => text(made, file) !== text(committed, file)).sort();
}
