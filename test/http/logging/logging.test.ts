import { execFile } from 'node:child_process';
import { fastify } from 'fastify';
import { describe, expect, it } from 'vitest';
import { createLogger } from '#src/http/logging/create-logger.js';
import type { LogFields } from '#src/http/logging/log-fields.js';
import type { LogLevel } from '#src/http/logging/logger.js';
import { createRequestLog } from '#src/http/logging/request-log.js';

const marker = 'MARKER4242';

function recorder(pretty = false, level: LogLevel = 'trace') {
  const lines: string[] = [];
  const logger = createLogger({ level, pretty, stream: { write: (line) => lines.push(line) } });
  return { logger, lines, text: () => lines.join('') };
}

function hostileError(): Error {
  const cause = Object.assign(new TypeError(marker), { code: marker });
  const error = new RangeError(`${marker}\n    at ${marker} (/${marker}.js:1:1)\n${marker}`, { cause });
  return Object.assign(error, { details: marker, rawPacket: Buffer.from(marker), errors: [new Error(marker)] });
}

describe.each([['JSON lines', false] as const, ['readable text', true] as const])('%s', (_, pretty) => {
  it('contain only the route template, method, status, time, trace and application of a request', async () => {
    const { logger, text } = recorder(pretty);
    const log = createRequestLog(logger);
    const app = fastify({ logger: false });
    app.addHook('onResponse', async (request, reply) => {
      const { url, headers, body, query } = request;
      const added = { url, headers, body, query };
      log.request({
        // If code carelessly spread an object, these properties would be added.
        ...request,
        ...added,
        route: request.routeOptions.url ?? 'none',
        method: request.method,
        status: reply.statusCode,
        durationMs: reply.elapsedTime,
        traceId: 'trace-1',
        applicationId: 'application-1',
        code: 'internal',
        otelTraceId: null,
      });
    });
    app.setErrorHandler((error, _request, reply) => {
      log.error(error, 'trace-1');
      reply.code(500).send();
    });
    app.post('/tokens/:id', async () => {
      throw hostileError();
    });
    await app.inject({
      method: 'POST',
      url: `/tokens/${marker}?q=${marker}`,
      headers: { 'x-marker': marker, 'content-type': 'application/json' },
      payload: { data: marker },
    });
    await app.close();
    for (const expected of ['/tokens/:id', 'POST', '500', 'trace-1', 'application-1', 'RangeError', 'at ']) {
      expect(text()).toContain(expected);
    }
    expect(text()).not.toContain(marker);
  });

  it('contain only the name, code and stack frames of an error', () => {
    const { logger, text } = recorder(pretty);
    const error = Object.assign(hostileError(), { code: 'ERR_MADE_UP' });
    logger.error('failed', { error });
    expect(text()).toContain('RangeError');
    expect(text()).toContain('ERR_MADE_UP');
    expect(text()).toContain('logging.test.ts');
    expect(text()).not.toContain(marker);
  });
});

describe('a line', () => {
  it('has exactly these members', () => {
    const { logger, lines } = recorder();
    createRequestLog(logger).request({
      route: '/tokens/:id',
      method: 'GET',
      status: 200,
      durationMs: 1.2345,
      traceId: 't',
      applicationId: null,
      code: null,
      otelTraceId: null,
    });
    const { time, ...line } = JSON.parse(lines.join(''));
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(line).toEqual({
      level: 'info',
      msg: 'request',
      route: '/tokens/:id',
      method: 'GET',
      status: 200,
      duration_ms: 1.2,
      trace_id: 't',
    });
  });

  it('is one line of text on a terminal, with the code of the problem', () => {
    const { logger, lines } = recorder(true);
    createRequestLog(logger).request({
      route: '/tokens/:id',
      method: 'GET',
      status: 404,
      durationMs: 1.2,
      traceId: 't',
      applicationId: 'a',
      code: 'token_not_found',
      otelTraceId: null,
    });
    const text = lines.join('').replaceAll(new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g'), '');
    expect(text).toMatch(/^\[[\d:.]+\] INFO: GET \/tokens\/:id 404 token_not_found 1\.2 ms trace=t application=a\n$/);
  });

  it('is written at debug for a health probe', () => {
    const { logger, lines } = recorder();
    for (const route of ['/health/live', '/health/ready']) {
      createRequestLog(logger).request({
        route,
        method: 'GET',
        status: 200,
        durationMs: 1,
        traceId: 't',
        applicationId: null,
        code: null,
        otelTraceId: null,
      });
    }
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(['debug', 'debug']);
  });

  it('drops fields that are not on the list, and values of the wrong type', () => {
    const { logger, text } = recorder();
    const hostile: object = { body: marker, req: { url: marker }, status: { toJSON: () => marker } };
    const fields: LogFields = Object.assign({ route: '/x' }, hostile);
    logger.info('x', fields);
    expect(text()).toContain('/x');
    expect(text()).not.toContain(marker);
  });

  it('is written only at its level and at more verbose levels', () => {
    const { logger, lines } = recorder(false, 'warn');
    logger.info('a');
    logger.warn('b');
    logger.fatal('c');
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['b', 'c']);
    const silent = recorder(false, 'silent');
    silent.logger.fatal('d');
    expect(silent.lines).toEqual([]);
  });
});

describe('stack frames', () => {
  const withMessage = (error: Error, message: string) => {
    // The test runner formats the stack when the stack is read for the first time. This line therefore reads it.
    expect(error.stack).toContain(error.message);
    return Object.assign(error, { message });
  };
  const withStack = (error: Error, stack: unknown) => Object.assign(error, { stack });
  function stackOf(error: unknown): string | undefined {
    const { logger, lines } = recorder();
    logger.error('x', { error });
    return JSON.parse(lines.join('')).err.stack;
  }

  it.each([
    ['an ordinary error', () => new Error('plain')],
    ['an error without a message', () => withStack(new TypeError(), 'TypeError\n    at f (/x.js:1:1)')],
    ['an error whose message looks like frames', () => new Error(`\n    at ${marker} (/x.js:1:1)\n`)],
    ['a Node.js error with a code', () => caught(() => Buffer.alloc(-1))],
    ['a DOMException', () => new DOMException(marker, 'AbortError')],
  ])('are logged for %s', (_, error) => {
    expect(stackOf(error())).toMatch(/^at .+/);
    expect(stackOf(error())).not.toContain(marker);
  });

  it.each([
    ['a replaced message', () => withMessage(new Error(`a\n    at ${marker} (/x.js:1:1)`), 'b')],
    ['an emptied message', () => withMessage(new Error(`a\n    at ${marker} (/x.js:1:1)`), '')],
    ['a stack that is not a string', () => withStack(new Error('a'), { toString: () => marker })],
    ['a stack of another kind', () => withStack(new Error('a'), `${marker}\n${marker}`)],
    ['a thrown string', () => marker],
    ['a thrown object', () => ({ name: marker, message: marker, stack: marker, code: marker })],
    ['nothing', () => undefined],
  ])('are not logged for %s', (_, thrown) => {
    expect(stackOf(thrown())).toBeUndefined();
  });

  it('stop before anything that a library has appended to the stack', () => {
    const error = new Error('a');
    error.stack += `\nCaused by: ${marker}\n    at ${marker} (/x.js:1:1)`;
    expect(stackOf(error)).toMatch(/^at .+/);
    expect(stackOf(error)).not.toContain(marker);
  });

  it.each([`${marker} 1`, 'a b', '4242424242424242', 'x'.repeat(65), 'a\nb', 11_000, null])(
    'are logged without a code or name that is not a plain word: %j',
    (word) => {
      const { logger, lines } = recorder();
      logger.error('x', { error: Object.assign(new Error('a'), { code: word, name: String(word) }) });
      const { err } = JSON.parse(lines.join(''));
      expect(err.code).toBeUndefined();
      expect([String(word), 'Error']).toContain(err.name);
      expect(JSON.stringify(err)).not.toMatch(/MARKER4242 1|4242424242424242/);
    },
  );

  function caught(act: () => unknown): unknown {
    try {
      return act();
    } catch (error) {
      return error;
    }
  }
});

describe('an uncaught error', () => {
  const setUp = `
    import { createLogger } from '#src/http/logging/create-logger.js';
    import { logUncaught } from '#src/http/logging/logger.js';
    const logger = createLogger({ level: 'info', pretty: process.env.PRETTY === '1' });
    logUncaught(logger);
    const error = new RangeError('${marker}', { cause: new Error('${marker}') });
    setInterval(() => {}, 1000);`;

  function run(script: string, pretty: boolean): Promise<{ code: unknown; stdout: string; stderr: string }> {
    const args = ['--input-type=module', '-e', setUp + script];
    const env = { ...process.env, PRETTY: pretty ? '1' : '0' };
    return new Promise((resolve) => {
      execFile(process.execPath, args, { env }, (error, stdout, stderr) => {
        resolve({ code: error?.code, stdout, stderr });
      });
    });
  }

  it.each([
    ['uncaught exception', 'setTimeout(() => { throw error; }, 0);', false],
    ['uncaught exception', 'setTimeout(() => { throw error; }, 0);', true],
    ['unhandled rejection', 'Promise.reject(error);', false],
    ['unhandled rejection', `Promise.reject('${marker}');`, false],
  ])(
    'is logged without its message as %s, and then the process exits with 1: %s (pretty: %s)',
    async (what, script, pretty) => {
      const { code, stdout, stderr } = await run(script, pretty);
      expect(code).toBe(1);
      expect(stdout).toContain(what);
      expect(stdout + stderr).not.toContain(marker);
      expect(stderr).toBe('');
    },
  );

  it('makes the process exit silently if logging itself fails', async () => {
    const broken = `
      process.removeAllListeners('uncaughtException');
      logUncaught({ fatal() { throw new Error('${marker}'); } });
      setTimeout(() => { throw error; }, 0);`;
    expect(await run(broken, false)).toEqual({ code: 1, stdout: '', stderr: '' });
  });
});
