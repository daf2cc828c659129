import { z } from 'zod';
import { listHourlyCheckpoints } from '../../../audit/list-checkpoints.js';
import { recordManagementRead } from '../../../commands/access-log/record-management-read.js';
import { formatTimestamp } from '../../../domain/time/format-timestamp.js';
import { checkpointHash } from '../../../events/audit/checkpoint.js';
import { pageAnswer, pageQuery, rangeOf } from '../../pagination.js';
import { contextOf } from '../../request-state.js';
import type { Routes } from '../../routes.js';
import { sendJson } from '../../send-json.js';
import { listCheckpointsOperation as operation } from './operation.js';

/**
 * `GET /audit/checkpoints`: what proves the log, for whoever keeps it elsewhere. Threat: number, position and count of the
 * checkpoints would tell one tenant how much the others do.
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
