import { z } from 'zod';

/** How scalars look wherever they stand in an answer. */
export const dateTime = z.string().meta({ format: 'date-time' });
export const uuid = z.string().meta({ format: 'uuid' });
export const wholeNumber = z.number().meta({ type: 'integer', minimum: 0 });
