import { describe, expect } from 'vitest';
import { expectRefusal, invalid, test } from '../support.js';

describe('an invalid query is rejected, and the error names the parameter', () => {
  const cases: readonly (readonly [query: string, ...paths: string[]])[] = [
    ['page=0', 'page'],
    ['page=-1', 'page'],
    ['page=1.5', 'page'],
    ['page=', 'page'],
    ['page=1&page=2', 'page'],
    ['page=99999999999999999999', 'page'],
    ['size=0', 'size'],
    ['size=101', 'size'],
    ['size=abc', 'size'],
    ['start_date=yesterday', 'start_date'],
    ['start_date=2026-02-30', 'start_date'],
    ['start_date=', 'start_date'],
    ['end_date=2026-13-01', 'end_date'],
    ['operation=read&operation=reveal', 'operation'],
    ['operation=reveals', 'operation'],
    ['operation=', 'operation'],
    ['entity_type=tokens', 'entity_type'],
    ['entity_id=one&entity_id=other', 'entity_id'],
    ['entity_type=token&entity_type=key', 'entity_type'],
    ['page=0&size=0&start_date=x&end_date=y', 'page', 'size', 'start_date', 'end_date'],
  ];
  test.for(cases)('%s', async ([query, ...paths], { service }) => {
    const send = () => service.call('GET', `/logs?${query}`, undefined, { key: service.managementKey });
    await expectRefusal(service, send, invalid(...paths));
  });

  test('a time that is not a date is rejected, and the error shows an example', async ({ service }) => {
    const { body } = await service.call('GET', '/logs?end_date=yesterday', undefined, { key: service.managementKey });
    expect(body['errors']).toEqual({ end_date: ['must be a date or date-time, such as 2026-01-31T12:00:00Z'] });
  });

  test('an unknown value is rejected, and the error lists the valid values', async ({ service }) => {
    const { body } = await service.call('GET', '/logs?operation=typo&entity_type=typo', undefined, {
      key: service.managementKey,
    });
    expect(body['errors']).toEqual({
      entity_type: ['must be given once, as one of: token, application, key, tenant, report, log, service, webhook'],
      operation: [
        'must be given once, as one of: create, read, reveal, update, delete, expiry, purge, start, stop, rotation, sign_in, sign_out, loss',
      ],
    });
  });
});
