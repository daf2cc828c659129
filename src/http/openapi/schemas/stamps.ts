import { z } from 'zod';
import { dateTime } from './formats.js';

/** Who made something of the directory and who changed it last. */
export const stamps = {
  created_by: z.string().meta({ description: 'The id of an application, or `operator`.' }),
  created_at: dateTime,
  modified_by: z.string().optional().meta({ description: 'The id of an application, or `operator`.' }),
  modified_at: dateTime.optional(),
};
