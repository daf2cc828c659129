import { mongoAccessLog } from '#src/adapters/mongodb/access-log/mongo-access-log.js';
import { connectMongo } from '#src/adapters/mongodb/connection.js';

/**
 * Records entries for many concurrent callers until the process is killed. Prints each entry after the access log has
 * acknowledged it.
 */
const [, , url, database, name] = process.argv;
const log = mongoAccessLog(await connectMongo(url, database));
let count = 0;

async function caller() {
  for (;;) {
    count += 1;
    const message = `${name}-${count}`;
    const entry = {
      tenantId: 'tenant',
      time: Date.now(),
      actorId: 'actor',
      actorType: 'system',
      keyId: null,
      sourceAddress: null,
      entityType: 'token',
      entityRef: null,
      entityId: null,
      operation: 'read',
      outcome: 'success',
      message,
      trace: null,
      tracePlace: null,
    };
    await log.record([entry]);
    process.stdout.write(`${message}\n`);
  }
}

await Promise.all(Array.from({ length: 16 }, caller));
