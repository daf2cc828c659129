import { z } from 'zod';
import { recordManagementRead } from '../../audit/access-log/record-management-read.js';
import { listHourlyCheckpoints } from '../../audit/list-checkpoints.js';
import { formatTimestamp } from '../../domain/time.js';
import { checkpointHash } from '../../events/audit/checkpoint.js';
import { documented } from '../openapi/operation.js';
import { dateTime } from '../openapi/schemas/formats.js';
import { pageExample, pageOf } from '../openapi/schemas/pagination.js';
import { pageAnswer, pageQuery, rangeOf } from '../pagination.js';
import { contextOf } from '../request-state.js';
import type { Routes } from '../routes.js';
import { sendJson } from '../send-json.js';

const text = z.string();

const checkpoint = z
  .object({
    time: dateTime('When it was signed: at the beginning of an hour, or at the first start in that hour.'),
    hash: text.meta({
      description:
        'SHA-256 of the checkpoint, which holds the Merkle root of the log up to then, as 64 hexadecimal digits.',
    }),
    signed_by: text.meta({ description: 'SHA-256 of the public key as PEM, as 64 hexadecimal digits.' }),
    signature: text.meta({ description: 'The Ed25519 signature of the hash, in base64.' }),
  })
  .meta({ id: 'Checkpoint', description: 'A signed checkpoint of the event log.' });

const operation = documented({
  id: 'listCheckpoints',
  tag: 'Logs',
  summary: 'List the signed checkpoints of the event log',
  description:
    'Returns one checkpoint per hour, newest first. Keep copies elsewhere and verify them with the public key. ' +
    'Each checkpoint signs the whole log of the vault, which all tenants share, and shows nothing of it.',
  answers: {
    200: {
      description: 'A page of checkpoints.',
      schema: pageOf(checkpoint),
      example: pageExample({
        ...{ time: '2026-01-31T12:00:00.214+00:00', hash: 'c3'.repeat(32), signed_by: 'd4'.repeat(32) },
        signature: `${'A'.repeat(86)}==`,
      }),
    },
  },
});

/**
 * `GET /audit/checkpoints` lists the signed checkpoints, so that an auditor can keep copies. Threat: the number,
 * position and count of a checkpoint would show a tenant how active other tenants are.
 */
export const listCheckpointsRoute: Routes = (app, { vault }) => {
  app.get(
    '/audit/checkpoints',
    { schema: { querystring: z.object(pageQuery) }, config: { permission: 'log:read', operation } },
    async (request, reply) => {
      const { checkpoints, total } = await listHourlyCheckpoints(vault.log, rangeOf(request.query));
      await recordManagementRead(vault, contextOf(request), 'log', null);
      const data = checkpoints.map((checkpoint) => ({
        ...{ time: formatTimestamp(checkpoint.time), hash: checkpointHash(checkpoint) },
        ...{ signed_by: checkpoint.signed_by, signature: checkpoint.signature },
      }));
      return sendJson(reply, 200, pageAnswer(request.query, total, data));
    },
  );
};
