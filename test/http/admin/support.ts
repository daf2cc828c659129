import { onTestFinished } from 'vitest';
import { createAdminApp } from '#src/http/admin/admin-app.js';
import { startTestService } from '../../support/test-service.js';

/** Starts a service with its admin listener for one test. */
export async function startWithAdmin() {
  const service = await startTestService();
  const admin = createAdminApp(service.service);
  onTestFinished(async () => {
    await admin.close();
    await service.close();
  });
  const ask = (url: string) => admin.inject({ method: 'GET', url });
  return { service, admin, ask };
}
