import { z } from 'zod';
import { listCheckpoints } from '../../../audit/list-checkpoints.js';
import { recordManagementRead } from '../../../commands/access-log/record-management-read.js';
import { checkpointVersion } from '../../../events/audit/checkpoint.js';
import { pageAnswer, pageQuery, rangeOf } from '../../pagination.js';
import { contextOf } from '../../request-state.js';
import type { Routes } from '../../routes.js';
import { sendJson } from '../../send-json.js';
import { listCheckpointsOperation as operation } from './operation.js';

/** `GET /audit/checkpoints`: what proves the log, for whoever keeps it elsewhere. */
export const listCheckpointsRoute: Routes = (app, { vault }) => {
  app.get(
    '/audit/checkpoints',
    { schema: { querystring: z.object(pageQuery) }, config: { permission: 'log:read', operation } },
    async (request, reply) => {
      const { checkpoints, total } = await listCheckpoints(vault.log, rangeOf(request.query));
      await recordManagementRead(vault, contextOf(request), 'log', null);
      const data = checkpoints.map((checkpoint) => ({ strongroom_checkpoint: checkpointVersion, ...checkpoint }));
      return sendJson(reply, 200, pageAnswer(request.query, total, data));
    },
  );
};
