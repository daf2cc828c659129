import { z } from 'zod';
import { documented } from '../../openapi/operation.js';
import { pageExample, pageOf } from '../../openapi/schemas/pagination.js';

const text = z.string();
const hash = text.meta({ description: '64 hexadecimal digits.' });

const checkpoint = z
  .object({
    time: text.meta({ description: 'When it was signed: as an hour began, or at the first start in that hour.' }),
    hash: hash.meta({ description: 'SHA-256 of the checkpoint, which holds the Merkle root over the log up to then.' }),
    signed_by: hash.meta({ description: 'SHA-256 of the public key as PEM.' }),
    signature: text.meta({ description: 'Ed25519 over the hash, base64: the hash with it is evidence by itself.' }),
  })
  .meta({ id: 'Checkpoint' });

export const listCheckpointsOperation = documented({
  id: 'listCheckpoints',
  tag: 'Logs',
  summary: 'List the signed checkpoints of the event log',
  description:
    'One for each hour, the newest first, to be kept elsewhere and verified with the public key. Each signs the whole log of ' +
    'the vault, which all tenants share, and shows nothing of it.',
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
