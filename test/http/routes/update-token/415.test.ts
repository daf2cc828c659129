import { describe } from 'vitest';
import { createPlain, expectRefusal, path, test } from '../support.js';

describe('415 an update must be a merge patch', () => {
  test.for(['application/json', 'text/plain', 'application/json-patch+json', 'application/merge-patch'])(
    '%s',
    async (type, { service }) => {
      const { id } = await createPlain(service);
      const headers = { 'content-type': type };
      const refused = { status: 415, code: 'unsupported_media_type' };
      await expectRefusal(service, () => service.call('PATCH', path(id), { data: 1 }, { headers }), refused);
      const unknown = () => service.call('PATCH', '/tokens/unknown', undefined, { headers, raw: '{' });
      await expectRefusal(service, unknown, refused);
    },
  );

  test('413 for a body of more than 4 MiB', async ({ service }) => {
    const { id } = await createPlain(service);
    const send = () => service.call('PATCH', path(id), { data: 'x'.repeat(4 * 1024 * 1024) });
    await expectRefusal(service, send, { status: 413, code: 'body_too_large' });
  });
});
