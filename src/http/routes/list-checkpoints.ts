import { z } from 'zod';
import { recordManagementRead } from '../../audit/access-log/record-management-read.js';
import { listHourlyCheckpoints, signedPart } from '../../audit/list-checkpoints.js';
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
    time: dateTime(
      'When the checkpoint was signed: at the beginning of an hour, or when the service first started in that hour.',
    ),
    hash: text.meta({
      description:
        'The SHA-256 hash of the checkpoint, as 64 hexadecimal digits. The checkpoint contains the Merkle root of ' +
        'the log at that time.',
    }),
    signed_by: text.meta({
      description: 'The SHA-256 hash of the public key in PEM format, as 64 hexadecimal digits.',
    }),
    signature: text.meta({ description: 'The Ed25519 signature of the hash, in base64.' }),
  })
  .meta({ id: 'Checkpoint', description: 'A signed checkpoint of the event log.' });

const operation = documented({
  id: 'listCheckpoints',
  tag: 'Logs',
  summary: 'List the signed checkpoints of the event log',
  description:
    'Returns one checkpoint per hour, newest first. Keep copies elsewhere and verify them with the public key. ' +
    'Each checkpoint covers the vault’s whole log, which all tenants share, but reveals nothing about its contents.',
  answers: {
    200: {
      description: 'A page of checkpoints.',
      schema: pageOf(checkpoint),
      example: pageExample({
        time: '2026-01-31T12:00:00.214+00:00',
        hash: 'c3'.repeat(32),
        signed_by: 'd4'.repeat(32),
        signature: `${'A'.repeat(86)}==`,
      }),
    },
  },
});

/** `GET /audit/checkpoints` lists the signed checkpoints. An auditor can store copies of them. */
export const listCheckpointsRoute: Routes = (app, { vault }) => {
  app.get(
    '/audit/checkpoints',
    { schema: { querystring: z.object(pageQuery) }, config: { permission: 'log:read', operation } },
    async (request, reply) => {
      const { checkpoints, total } = await listHourlyCheckpoints(vault.log, rangeOf(request.query));
      await recordManagementRead(vault, contextOf(request), 'log', null);
      return sendJson(reply, 200, pageAnswer(request.query, total, checkpoints.map(signedPart)));
    },
  );
};
