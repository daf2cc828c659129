import { onTestFinished } from 'vitest';
import { createAdminApp } from '#src/http/admin/admin-app.js';
import { startTestService } from '../../support/test-service.js';

/** Starts a service with its admin listener for one test. By default, the listener is on loopback. */
export async function startWithAdmin({ onLoopback = true } = {}) {
  const service = await startTestService();
  const admin = createAdminApp(service.service, { onLoopback });
  onTestFinished(async () => {
    await admin.close();
    await service.close();
  });
  const ask = (url: string, host = '127.0.0.1:9464') => admin.inject({ method: 'GET', url, headers: { host } });
  return { service, admin, ask };
}
