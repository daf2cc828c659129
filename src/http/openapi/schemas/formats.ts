import { z } from 'zod';

/** Returns the schema for a date-time in a response. */
export function dateTime(description: string) {
  return z.string().meta({ format: 'date-time', description });
}

/** Returns the schema for a UUID in a response. */
export function uuid(description: string) {
  return z.string().meta({ format: 'uuid', description });
}

/** Returns the schema for a whole number in a response. The default minimum is 0. */
export function wholeNumber(description: string, minimum = 0) {
  return z.number().meta({ type: 'integer', minimum, description });
}
