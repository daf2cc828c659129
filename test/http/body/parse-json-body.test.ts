import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '#src/domain/json.js';
import { replaceValues } from '#src/domain/replace-values.js';
import { finish } from '#src/domain/steps.js';
import { type JsonBody, parseJsonBody, parsingJsonBody } from '#src/http/body/parse-json-body.js';

const lostDigits = 'is a number that may lose digits; send it as a string';

function message(text: string): string {
  const body = parseJsonBody(text);
  return body.ok ? `accepted as ${JSON.stringify(body.value)}` : body.message;
}

describe('ordinary bodies', () => {
  it.each([
    'null',
    ' true ',
    '""',
    '0',
    '[]',
    '{}',
    '[[],{}]',
    '{"":{"":[]}}',
    '\t\r\n[1 , 2 ]\n',
    '{"a":{"b":[1,{"c":"d"}]},"e":null}',
    '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00"',
    '"\u2028\u2029\u007fé😀"',
    '{"constructor":"data","prototype":{"constructor":[{"prototype":1}]}}',
    '{"toString":1,"hasOwnProperty":2}',
  ])('%s is parsed as JSON.parse does', (text) => {
    expect(parseJsonBody(text)).toEqual({ ok: true, value: JSON.parse(text) });
  });

  it('uses the last one of duplicate keys', () => {
    expect(parseJsonBody('{"a":1,"b":2,"a":3}')).toEqual({ ok: true, value: { a: 3, b: 2 } });
  });

  it.each(['-0', ' -0.0', '-0e5', '[-0]', '[1,-0]', '{"a":-0,"b":"-0"}', '{"a":\n-0.00E-1}'])(
    '%s is parsed with 0, because stored data contains no -0 and would differ from the body',
    (text) => {
      const zero = JSON.parse(JSON.stringify(JSON.parse(text)));
      expect(parseJsonBody(text)).toEqual({ ok: true, value: zero });
      expect(inSteps(text)).toEqual({ ok: true, value: zero });
    },
  );

  it('skips one byte order mark at the beginning, in bytes and in strings', () => {
    expect(parseJsonBody(Buffer.from([0xef, 0xbb, 0xbf, 0x31]))).toEqual({ ok: true, value: 1 });
    expect(parseJsonBody('\uFEFF1')).toEqual({ ok: true, value: 1 });
    expect(message('\uFEFF\uFEFF1')).toContain('at position 1');
  });
});

describe('malformed text is rejected with its position', () => {
  it.each([
    ['', 1],
    ['   ', 4],
    ['{', 2],
    ['[', 2],
    ['[1', 3],
    ['[1,', 4],
    ['[1,]', 4],
    ['[,1]', 2],
    ['[1 2]', 4],
    ['{"a"}', 5],
    ['{"a":}', 6],
    ['{"a":1,}', 8],
    ['{a:1}', 2],
    ["{'a':1}", 2],
    ['{"a":1]', 7],
    ['[1}', 3],
    ['1 2', 3],
    ['{}{}', 3],
    ['}', 1],
    [',', 1],
    ['nul', 1],
    ['NaN', 1],
    ['Infinity', 1],
    ['undefined', 1],
    ['01', 2],
    ['+1', 1],
    ['.5', 1],
    ['1.', 2],
    ['1e', 2],
    ['-', 1],
    ['0x10', 2],
    ['1n', 2],
    ['"a', 3],
    ['"a\nb"', 3],
    ['"\u0000"', 2],
    ['"\\x41"', 3],
    ['"\\u12g4"', 6],
    ['"\\u12', 6],
    ['"\\', 3],
    ['[1] // note', 5],
    ['\u00a0[1]', 1],
    ['[1]\u0000', 4],
  ])('%j at position %i', (text, position) => {
    expect(message(text)).toMatch(
      new RegExp(`^must be valid JSON; there is an unexpected .+ at position ${position}$`),
    );
  });

  it('rejects bytes that are not UTF-8 instead of replacing them', () => {
    const hostile = [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82]];
    for (const bytes of hostile) {
      const body = Buffer.concat([Buffer.from('"'), Buffer.from(bytes), Buffer.from('"')]);
      expect(parseJsonBody(body), body.toString('hex')).toEqual({ ok: false, message: 'must be UTF-8' });
    }
  });

  it('never repeats text from the body', () => {
    for (const text of ['4242424242424242x', '{"4242424242424242', '["4242\u0001"]', '4242424242424242 4242']) {
      expect(message(text)).not.toContain('4242');
    }
  });
});

describe('nesting', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

  it('accepts 64 levels of arrays or objects, and rejects 65', () => {
    expect(parseJsonBody(nested(64)).ok).toBe(true);
    expect(message(nested(65))).toBe('must not nest deeper than 64 levels');
    expect(parseJsonBody(`${'{"a":'.repeat(64)}1${'}'.repeat(64)}`).ok).toBe(true);
    expect(message(`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`)).toBe('must not nest deeper than 64 levels');
  });

  it('counts levels, not brackets', () => {
    expect(parseJsonBody(`[${'[],{},'.repeat(1_000)}"[[[${'['.repeat(100)}"]`).ok).toBe(true);
  });
});

describe('a key that reaches a prototype', () => {
  it.each([
    ['{"__proto__":1}', '__proto__'],
    ['{"data":[{"a":{"__proto__":{}}}]}', 'data[0].a.__proto__'],
    ['{"\\u005f_proto\\u005F_":1}', '__proto__'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    ['{"constructor":{"prototype":1}}', 'constructor.prototype'],
    ['{"a":[{"constructor":{"b":1,"prototype":{}}}]}', 'a[0].constructor.prototype'],
    ['{"constr\\u0075ctor":{"p\\u0072ototype":1}}', 'constructor.prototype'],
    ['{"constructor":{"prototype":1},"constructor":1}', 'constructor.prototype'],
    ['{"constructor":{"a":{}, "prototype":1}}', 'constructor.prototype'],
  ])('%s is rejected with the path %s', (text, path) => {
    expect(parseJsonBody(text)).toEqual({ ok: false, message: 'must not be used as a key', path });
  });

  it.each([
    '["__proto__","constructor","prototype"]',
    '{"a":"__proto__"}',
    '{"__proto":1,"_proto__":2,"__PROTO__":3}',
    '{"constructor":1}',
    '{"constructor":{"a":{"prototype":1}}}',
    '{"constructor":[{"prototype":1}]}',
    '[{"constructor":{}},{"prototype":1}]',
    '{"constructor":{},"a":{"prototype":1}}',
    '{"prototype":{"prototype":1}}',
  ])('%s is data like any other key', (text) => {
    expect(parseJsonBody(text)).toEqual({ ok: true, value: JSON.parse(text) });
  });
});

describe('numbers', () => {
  it.each([
    '12345678901234567890',
    '9007199254740992',
    '9007199254740993',
    '-9007199254740992',
    '1000000000000000000000',
    '9007199254740993.0',
    '9007199254740993e0',
    '1e16',
    '1e400',
    '-1e400',
    '1e-400',
    '3e-324',
    '0.1234567890123456789',
    '0.12345678901234567',
    '0.10000000000000001',
    '1.7976931348623159e308',
    '1234567890123.45678',
  ])('%s is rejected, because it may lose digits', (literal) => {
    expect(parseJsonBody(`{"data":{"a":[0,${literal}]}}`)).toEqual({
      ok: false,
      message: lostDigits,
      path: 'data.a[1]',
    });
    expect(parseJsonBody(literal)).toEqual({ ok: false, message: lostDigits });
  });

  it.each([
    ['8.99', '8.99'],
    ['1e3', '1000'],
    ['1E+3', '1000'],
    ['12e-1', '1.2'],
    ['0.1', '0.1'],
    ['8.50', '8.5'],
    ['-0', '0'],
    ['0e400', '0'],
    ['0.000', '0'],
    ['9007199254740991', '9007199254740991'],
    ['-9007199254740991', '-9007199254740991'],
    ['4242424242424242', '4242424242424242'],
    ['0.1234567890123456', '0.1234567890123456'],
    ['1.00000000000000000000000', '1'],
    ['1e21', '1e+21'],
    ['1.7976931348623157e308', '1.7976931348623157e+308'],
    ['5e-324', '5e-324'],
    ['0.30000000000000004', '0.30000000000000004'],
  ])('%s is kept and serialized as %s', (literal, written) => {
    const body = parseJsonBody(`[${literal}]`);
    expect(body.ok && JSON.stringify(body.value)).toBe(`[${written}]`);
  });

  it.each(['k'.repeat(5_000), '4242424242424242', '4-2-4-2-4-2'])('does not repeat the key %s in the path', (key) => {
    const body = parseJsonBody(`{"a":{"${key}":[1e400]}}`);
    expect(body).toEqual({ ok: false, message: lostDigits, path: 'a.*[0]' });
  });
});

describe('compared with JSON.parse, the parser', () => {
  const isUnsafeWhole = (value: number) => Math.abs(value) > Number.MAX_SAFE_INTEGER && Math.abs(value) < 1e21;

  it('reads back every value that JSON.stringify writes, except numbers that may lose digits', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 2, '\t'), (value, space) => {
        const text = JSON.stringify(value, null, space);
        fc.pre(!/"__proto__"|"prototype"/.test(text) && !hasUnsafeWhole(value));
        expect(parseJsonBody(Buffer.from(text))).toEqual({ ok: true, value: JSON.parse(text) });
      }),
    );
    function hasUnsafeWhole(value: unknown): boolean {
      if (typeof value === 'number') return isUnsafeWhole(value);
      return typeof value === 'object' && value !== null && Object.values(value).some(hasUnsafeWhole);
    }
  });

  it('accepts its own output, so that a value that was read can be sent back', () => {
    const digits = fc.stringMatching(/^-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?$/);
    fc.assert(
      fc.property(digits, (literal) => {
        const body = parseJsonBody(literal);
        fc.pre(body.ok);
        const written = JSON.stringify(body.value);
        expect(parseJsonBody(written), written).toEqual({ ok: true, value: JSON.parse(written) });
      }),
    );
  });

  it('accepts every double in its shortest form', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        fc.pre(!isUnsafeWhole(value));
        expect(parseJsonBody(String(value)).ok, String(value)).toBe(true);
      }),
    );
  });

  it('rejects the same malformed text, made of pieces of JSON', () => {
    const pieces = ['{', '}', '[', ']', ',', ':', '"a"', '"\\u0041"', '"', '\\', '1', '-', '.', 'e', '0', 'true', ' '];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (chosen) => {
        const text = chosen.join('');
        const body = parseJsonBody(text);
        if (!body.ok && body.message === lostDigits) return;
        expect(body.ok, text).toBe(isJson(text));
      }),
      { numRuns: 5_000 },
    );
  });

  it('rejects the same malformed text, made by one change to valid text', () => {
    const unit = fc.integer({ min: 0, max: 0x2100 }).map((code) => String.fromCharCode(code));
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.nat(), unit, (value, place, inserted) => {
        const text = JSON.stringify(value);
        const at = place % (text.length + 1);
        const changed = text.slice(0, at) + inserted + text.slice(at + 1);
        const body = parseJsonBody(changed);
        if (!body.ok && !body.message.startsWith('must be valid JSON')) return;
        expect(body.ok, changed).toBe(isJson(changed.replace(/^\uFEFF/, '')));
      }),
      { numRuns: 2_000 },
    );
  });

  function isJson(text: string): boolean {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  }
});

/**
 * Reads a body with the scanner that builds the value itself. Outside of tests, this scanner is used only for large
 * bodies.
 */
function inSteps(text: string): JsonBody {
  return finish(parsingJsonBody(Buffer.from(text), 0));
}

describe('a body that is read in steps', () => {
  const value = fc.jsonValue({ maxDepth: 6 });
  const unit = fc.integer({ min: 0, max: 0x2100 }).map((code) => String.fromCharCode(code));

  it('has the same result as a body that is read at once, whether it is valid or changed in one place', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 2), fc.nat(), unit, (value, space, place, inserted) => {
        const text = JSON.stringify(value, null, space);
        const at = place % (text.length + 1);
        for (const one of [text, text.slice(0, at) + inserted + text.slice(at + 1)]) {
          expect(inSteps(one), one).toEqual(parseJsonBody(Buffer.from(one)));
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00 end"',
    '{"a":1,"\\u0061":2,"b":{"a":[{},[],[[]],"",null,true,-0.5e1]}}',
    '{"2":"b","1":"a","x":"c"}',
    '  "lone"  ',
    '\uFEFF[1]',
  ])('%s has the same value, with its keys in the same order', (text) => {
    const [steps, whole] = [inSteps(text), parseJsonBody(Buffer.from(text))];
    expect(steps).toEqual(whole);
    expect(JSON.stringify(steps)).toBe(JSON.stringify(whole));
  });

  it('yields to other work hundreds of times in 4 MiB, whatever the body contains', () => {
    for (const unit of ['[],', '"\\n",', '1,', '{"a":{}},']) {
      const text = `[${unit.repeat(4_000_000 / unit.length)}0]`;
      const steps = parsingJsonBody(Buffer.from(text));
      let pauses = 0;
      while (steps.next().done !== true) pauses += 1;
      expect(pauses, unit).toBeGreaterThan(200);
    }
  });

  it('is rejected if it contains bytes that are not UTF-8, wherever it is split into chunks', () => {
    const bad = Buffer.concat([Buffer.from(`"${'é'.repeat(300_000)}`), Buffer.from([0xc3]), Buffer.from('"')]);
    const cutOff = Buffer.concat([Buffer.from(`"${'é'.repeat(300_000)}"`), Buffer.from([0xc3])]);
    for (const bytes of [bad, cutOff]) {
      expect(finish(parsingJsonBody(bytes))).toEqual({ ok: false, message: 'must be UTF-8' });
    }
    const good = Buffer.from(`"a${'é'.repeat(300_000)}"`);
    expect(finish(parsingJsonBody(good))).toEqual(parseJsonBody(good));
  });
});

describe('an object with more than 20,000 members', () => {
  const membersOf = (count: number) => Array.from({ length: count }, (_, i) => `"${i.toString(36)}":0`).join(',');

  it('is rejected with its path, both in steps and at once', () => {
    for (const [text, path] of [
      [`{${membersOf(20_001)}}`],
      [`{"a":[0,{${membersOf(20_001)}}]}`, 'a[1]'],
      // A repeated key counts each time, because the limit is checked while the text is scanned.
      [`{"a":{${'"b":0,'.repeat(20_000)}"b":0}}`, 'a'],
    ] as const) {
      const message = 'must have at most 20000 members';
      const expected = path === undefined ? { ok: false, message } : { ok: false, message, path };
      expect(inSteps(text)).toEqual(expected);
      expect(parseJsonBody(text)).toEqual(expected);
    }
  });

  it('differs from an object with 20,000 members, from two such objects and from a long array', () => {
    const largest = `{${membersOf(20_000)}}`;
    for (const text of [largest, `[${largest},${largest}]`, `{"a":[${'0,'.repeat(1_000_000)}0]}`]) {
      expect(inSteps(text).ok).toBe(true);
      expect(parseJsonBody(text).ok).toBe(true);
    }
  });
});

describe('a large hostile body takes linear time', () => {
  const sizeBytes = 4 * 1024 * 1024;
  const filled = (open: string, unit: string, close: string) =>
    open + unit.repeat(Math.floor((sizeBytes - open.length - close.length) / unit.length)) + close;

  it.each([
    ['open brackets', filled('', '[', '')],
    ['spaces', filled('', ' ', '')],
    ['a string', filled('"', 'a', '"')],
    ['an open string of escapes', filled('"', '\\u0041', '')],
    ['digits', filled('[', '1', ']')],
    ['zeros before a digit', filled('[0.', '0', '1]')],
    ['zeros in an exponent', filled('[1e', '0', '1]')],
    ['numbers with exponents', filled('[', '1.1e1,', '1]')],
    ['numbers with 17 digits', filled('[', '0.12345678901234566,', '1]')],
    ['empty arrays', filled('[', '[],', '1]')],
    ['escaped keys', filled('[', '{"\\u0041":1},', '1]')],
    ['a long key before a bad number', filled('{"', '\\u0041', '":1e400}')],
  ])('%s', (_, text) => {
    const bytes = Buffer.from(text);
    const started = performance.now();
    parseJsonBody(bytes);
    // With quadratic-time parsing, 4 MiB would take minutes. The limit is high enough for a busy machine.
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe('a body of nested arrays takes little memory', () => {
  const arrays = 200_000;
  const nest = 50;
  const bytes = Buffer.from(`[${Array(arrays / nest).fill('['.repeat(nest) + ']'.repeat(nest))}]`);
  const collect = () => {
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
  };

  /** Returns the memory that a result takes, in bytes per array. */
  function memoryOf(make: () => Json): number {
    collect();
    const before = process.memoryUsage().heapUsed;
    const made = make();
    collect();
    const bytesUsed = process.memoryUsage().heapUsed - before;
    expect(Array.isArray(made)).toBe(true);
    return bytesUsed / arrays;
  }

  // An array that grows by `push` has room for 17 items, and takes 184 bytes.
  it('when it is parsed in steps, and when its values are replaced', () => {
    const body = { value: null as Json };
    expect(
      memoryOf(() => {
        const parsed = finish(parsingJsonBody(bytes));
        body.value = parsed.ok ? parsed.value : null;
        return body.value;
      }),
    ).toBeLessThan(100);
    expect(memoryOf(() => finish(replaceValues(body.value, () => undefined)))).toBeLessThan(100);
  });
});
