import { z } from 'zod';

/** Returns the schema of a date-time in responses. */
export function dateTime(description: string) {
  return z.string().meta({ format: 'date-time', description });
}

/** Returns the schema of a UUID in responses. */
export function uuid(description: string) {
  return z.string().meta({ format: 'uuid', description });
}

/** Returns the schema of a whole number in responses, from 0 or from `minimum`. */
export function wholeNumber(description: string, minimum = 0) {
  return z.number().meta({ type: 'integer', minimum, description });
}
