import { z } from 'zod';

/** The formats of scalars in all responses. */
export const dateTime = z.string().meta({ format: 'date-time' });
export const uuid = z.string().meta({ format: 'uuid' });
export const wholeNumber = z.number().meta({ type: 'integer', minimum: 0 });
