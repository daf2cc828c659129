import { z } from 'zod';

/** The body of every refusal (RFC 9457; contract, section 1 "Errors"). */
export const problemDocument = z
  .object({
    type: z.string().meta({ description: 'The path of a page about this kind of problem, served here.' }),
    title: z.string(),
    status: z.number().meta({ type: 'integer' }),
    detail: z.string(),
    instance: z.string().meta({ description: 'urn:trace: and the trace id of the request.' }),
    code: z.string().meta({ description: 'The kind of problem, as a stable word for programs.' }),
    errors: z
      .record(z.string(), z.array(z.string()))
      .optional()
      .meta({ description: 'Messages by the JSON path of each field that is not valid.' }),
  })
  .meta({ id: 'Problem', description: 'Why a request was refused (RFC 9457). It never repeats a value.' });
