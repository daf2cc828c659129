import { describe, expect, test } from 'vitest';
import type { Spans } from '#src/ports/spans.js';
import { attributesOf, client, failed, type Span, server } from '../support/collector.js';

/** The result of `open`: the spans under test, and the spans received by a collector. */
export type OpenedSpans = { readonly spans: Spans; readonly collected: () => readonly Span[] };

/** Defines the tests that every adapter for `Spans` must pass. */
export function spansContract(name: string, open: () => Promise<OpenedSpans>): void {
  const rows = {
    get: async (id: string) => id,
    fail: async () => {
      throw new RangeError('Marker5512');
    },
    size: () => 3,
    failAtOnce: () => {
      throw new RangeError('Marker5512');
    },
    part: { depth: 1 },
  };
  const end = { method: 'GET', route: '/tokens/:id', status: 200 };

  describe(`Spans: ${name}`, () => {
    test('a store call during a request is a child of the request’s span, and its name contains the kind of store', async () => {
      const { spans, collected } = await open();
      const store = spans.store('rows', 'sqlite', rows);
      const request = spans.begin(undefined);
      expect(await request.run(() => store.get('Marker5512'))).toBe('Marker5512');
      request.end(end);
      await spans.close();
      const [child, parent] = collected();
      expect(parent).toMatchObject({ name: 'GET /tokens/:id', kind: server, traceId: request.traceId });
      expect(child).toMatchObject({ name: 'rows.get', kind: client, parentSpanId: parent?.spanId });
      expect(child === undefined ? null : attributesOf(child)).toEqual({
        'db.system.name': 'sqlite',
        'db.operation.name': 'get',
      });
      expect(JSON.stringify(collected())).not.toContain('Marker5512');
    });

    test('store calls of concurrent requests each belong to their own request', async () => {
      const { spans, collected } = await open();
      const store = spans.store('rows', 'sqlite', rows);
      const requests = [spans.begin(undefined), spans.begin(undefined)];
      await Promise.all(
        requests.map((request) =>
          request.run(async () => {
            await store.get('a');
            await new Promise((resolve) => setImmediate(resolve));
            await store.get('b');
            request.end(end);
          }),
        ),
      );
      await spans.close();
      for (const { traceId } of requests) {
        const own = collected().filter((span) => span.traceId === traceId);
        expect(own.map((span) => span.name).sort()).toEqual(['GET /tokens/:id', 'rows.get', 'rows.get']);
      }
    });

    test('a call that fails rejects with the same error, and its span has the class of the error and no message', async () => {
      const { spans, collected } = await open();
      const store = spans.store('rows', 'sqlite', rows);
      const request = spans.begin(undefined);
      await expect(request.run(() => store.fail())).rejects.toThrow(new RangeError('Marker5512'));
      request.end({ ...end, status: 500 });
      await spans.close();
      expect(collected().map((span) => [span.status.code, attributesOf(span)['error.type']])).toEqual([
        [failed, 'RangeError'],
        [failed, '500'],
      ]);
      expect(JSON.stringify(collected())).not.toContain('Marker5512');
    });

    test('if a call returns or throws synchronously, its span ends immediately', async () => {
      const { spans, collected } = await open();
      const store = spans.store('rows', 'sqlite', rows);
      const request = spans.begin(undefined);
      expect(request.run(() => store.size())).toBe(3);
      expect(() => request.run(() => store.failAtOnce())).toThrow(new RangeError('Marker5512'));
      request.end(end);
      await spans.close();
      expect(collected().map((span) => [span.name, attributesOf(span)['error.type'] ?? null])).toEqual([
        ['rows.size', null],
        ['rows.failAtOnce', 'RangeError'],
        ['GET /tokens/:id', null],
      ]);
    });

    test('values that are not functions stay unchanged, and a call outside a request has no span', async () => {
      const { spans, collected } = await open();
      const store = spans.store('rows', 'sqlite', rows);
      expect(store.part).toBe(rows.part);
      expect(await store.get('a')).toBe('a');
      expect(store.size()).toBe(3);
      const request = spans.begin(undefined);
      request.end(end);
      await spans.close();
      expect(collected().map((span) => span.name)).toEqual(['GET /tokens/:id']);
    });

    test('a valid traceparent is continued, and an invalid one is ignored', async () => {
      const { spans, collected } = await open();
      const traceId = '0af7651916cd43dd8448eb211c80319c';
      const given = [
        `00-${traceId}-b7ad6b7169203331-01`,
        `00-${traceId}-b7ad6b7169203331-00`,
        `00-${traceId}-b7-01`,
        'a',
      ];
      const begun = given.map((traceparent) => spans.begin(traceparent));
      for (const request of begun) request.end(end);
      await spans.close();
      expect(begun.map((request) => request.traceId === traceId)).toEqual([true, true, false, false]);
      // The second caller does not record its trace, so the vault does not record this request either. The last two
      // values are invalid, so these requests begin new traces.
      expect(collected().map((span) => span.parentSpanId ?? null)).toEqual(['b7ad6b7169203331', null, null]);
    });
  });
}
