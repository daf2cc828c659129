import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { entriesOfRequest } from '../../dist/audit/access-log/new-entry.js';
import { openEmbedded } from '../../dist/compose/embedded/embedded.js';
import { finish } from '../../dist/domain/steps.js';
import { sealJson } from '../../dist/events/sealing/json-ciphertext.js';
import { sealTrace } from '../../dist/events/sealing/trace-ciphertext.js';
import { fingerprintHash, fingerprintOf } from '../../dist/events/tokens/fingerprint.js';
import { tokenStream } from '../../dist/events/tokens/stream-name.js';
import { rowIndexOf } from '../../dist/projections/row-index.js';
import { readToken } from '../../dist/queries/read-token.js';
import { release } from '../../dist/queries/release.js';
import { tokenAnswer } from '../../dist/queries/token-answer.js';
import { openToken } from '../../dist/vault/open-token.js';
import { searchKeyOf, tenantKeysOf } from '../../dist/vault/tenant-keys.js';
import { unwrap } from '../../dist/vault/unwrap.js';
import { processorTime } from './processor-time.mjs';

const atOnce = 64;

/**
 * Measures how long parts of a request take on the serving thread, µs each, without HTTP. It runs the functions that
 * the thread runs, on a vault that serves no requests. Each part runs `count` times, after as many runs on other
 * tokens whose results are discarded, so that no key is open yet.
 */
export async function partsOfRequests({ directory, data, keys, size }, count) {
  const fail = (error) => {
    throw error;
  };
  const rootKey = Buffer.from(readFileSync(join(directory, 'root.key'), 'utf8').trim(), 'hex');
  const stores = { dataDir: data, rootKey, mode: 'any', cvcRetentionMs: 3_600_000 };
  const service = await openEmbedded({ ...stores, onError: fail, onBroken: fail });
  try {
    const { vault } = service;
    const caller = { ...(await service.authenticate(keys.revealing)), sourceAddress: '127.0.0.1' };
    const tenantKeys = await tenantKeysOf(vault, caller.tenantId);
    const context = () => ({ caller, traceId: '0b0f0c1e-7e0d-4a5e-9d1b-000000000000', beganAt: performance.now() });
    // Neighbours in this list are not neighbours in the store.
    const streams = [];
    for (let i = 0; i < 2 * count; i++) streams.push(tokenStream(tenantKeys.names, `bench-${(i * 7919) % size}`));
    const views = [];
    for (const stream of streams) views.push(await vault.rows.get(stream));
    const read = await readToken(vault, caller.tenantId, streams[0]);
    const fact = { entity: 'token', ref: streams[0].slice('token-'.length), operation: 'reveal', message: 'shown' };

    const answer = tokenAnswer(caller, read, 'reveal');
    const render = await release(vault, context(), [answer]);
    const content = unwrap(read.open.content);
    const searchKey = await searchKeyOf(vault, caller.tenantId);
    const circumstances = { createdBy: caller.applicationId, modifiedBy: null, indexValues: [] };
    const place = { tenantId: caller.tenantId, stream: streams[0], revision: 0 };
    const box = { ...place, keyId: randomUUID(), field: 'content' };
    const key = randomBytes(32);

    const parts = {
      'the caller, from his key': () => service.authenticate(keys.revealing),
      'the name of the stream, from the id': (i) => tokenStream(tenantKeys.names, `bench-${i}`),
      'the row': (i) => vault.rows.get(streams[i]),
      'its key and its content, opened': (i) => openToken(vault, views[i], views[i].state.life),
      'the same, with a key that is open': (i) => openToken(vault, views[i % atOnce], views[i % atOnce].state.life),
      'the answer as JSON': () => JSON.stringify(finish(render(answer))),
      'the record of the read, sealed': () => entriesOfRequest(context(), tenantKeys, vault.clock.now(), [fact]),
      'the same, and handed over until it is durable': (i) =>
        release(vault, context(), [{ stream: streams[i], transform: 'reveal' }]),
      'of a create: the keyed hashes that its card is found by': () => {
        const fingerprint = fingerprintOf(tenantKeys.fingerprints, content.type, content.data.number);
        rowIndexOf([searchKey], fingerprintHash(tenantKeys.claims, fingerprint), content, circumstances);
      },
      'of a create: its content and its trace id, sealed': () => {
        sealJson(key, content, box);
        sealTrace(tenantKeys, context().traceId, place);
      },
    };
    const micros = {};
    for (const [name, part] of Object.entries(parts)) {
      await all(part, count, 2 * count);
      const before = processorTime(process.pid).serving;
      await all(part, 0, count);
      micros[name] = (processorTime(process.pid).serving - before) / count;
    }
    return micros;
  } finally {
    await service.close();
  }
}

/** Runs as many at once as the benchmark has connections, because records are written in groups. */
async function all(part, from, until) {
  let next = from;
  const work = async () => {
    while (next < until) {
      const waits = part(next++);
      if (waits instanceof Promise) await waits;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}
