import { z } from 'zod';
import { documented } from '../../openapi/operation.js';
import { pageExample, pageOf } from '../../openapi/schemas/pagination.js';

const text = z.string();
const whole = z.number().int();
const hash = text.meta({ description: '64 hexadecimal digits.' });

const checkpoint = z
  .object({
    strongroom_checkpoint: whole.meta({ description: 'The version of this form: 1.' }),
    log_id: text,
    number: whole.meta({ description: 'From 1, without gaps.' }),
    time: whole.meta({ description: 'Milliseconds since the epoch, as it was signed.' }),
    position: whole.meta({ description: 'The event up to which it signs the log.' }),
    count: whole.meta({ description: 'How many events these are.' }),
    hash: hash.meta({ description: 'The end of the hash chain over them.' }),
    previous: hash.nullable().meta({ description: 'Hash of the checkpoint before; null in the first.' }),
    access: z.array(z.object({ chain: text, sequence: whole, hash })).meta({
      description: 'The ends of the chains of the access log that have grown since the checkpoint before.',
    }),
    signed_by: hash.meta({ description: 'SHA-256 of the public key as PEM.' }),
    signature: text.meta({ description: 'Ed25519, base64.' }),
  })
  .meta({ id: 'Checkpoint' });

export const listCheckpointsOperation = documented({
  id: 'listCheckpoints',
  tag: 'Logs',
  summary: 'List the signed checkpoints of the event log',
  description:
    'The newest first, each as `audit.anchor` gets it, so that it can be kept elsewhere and verified with the public key. ' +
    'They sign the whole log of the vault, which all tenants share.',
  answers: {
    200: {
      description: 'A page of checkpoints.',
      schema: pageOf(checkpoint),
      example: pageExample({
        ...{ strongroom_checkpoint: 1, log_id: '7d1c2f4e-8f0a-4f5e-9d6b-2a3c4d5e6f70', number: 2, time: 1769864400000 },
        ...{ position: 4711, count: 4711, hash: 'c3'.repeat(32), previous: 'a1'.repeat(32) },
        ...{ access: [{ chain: 'vault', sequence: 812, hash: 'b2'.repeat(32) }], signed_by: 'd4'.repeat(32) },
        signature: `${'A'.repeat(86)}==`,
      }),
    },
  },
});
