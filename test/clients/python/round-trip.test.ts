import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startRecordedService } from '../recorded-service.js';
import { bin, run } from './run.js';

test('the Python client calls every operation of the OpenAPI document on a real vault', async () => {
  const { service, address, all, called } = await startRecordedService();
  try {
    const output = await run(join(bin, 'python'), ['-m', 'tests.round_trip'], {
      STRONGROOM_ADDRESS: address,
      STRONGROOM_API_KEY: service.key,
      STRONGROOM_MANAGEMENT_KEY: service.managementKey,
    });
    expect(output).toMatch(/Ran 9 tests/);
    expect(called()).toEqual(all);
  } finally {
    await service.close();
  }
});
