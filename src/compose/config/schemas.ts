import { z } from 'zod';

export const path = z
  .string({ error: 'must be a path' })
  .min(1, { error: 'must not be empty' })
  .refine((text) => !text.includes('\0'), { error: 'must be a path' });
export const optionalPath = path.nullable();
export const flag = z.boolean({ error: 'must be true or false' });

export function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

const portError = 'must be a whole number from 0 to 65535, or off';
const portNumber = z.int({ error: portError }).min(0, { error: portError }).max(65_535, { error: portError });
/** A port to listen on, 0 for a free one; or no listener at all. */
export const portOrOff = z.union([portNumber, z.literal('off')], { error: portError });

export function oneOf<const T extends readonly string[]>(values: T) {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` });
}

const commandError = 'must be a JSON array of strings, the program first';
const commandPart = z.string({ error: commandError }).refine((text) => !text.includes('\0'), { error: commandError });
export const command = z.tuple([commandPart.min(1, { error: commandError })], commandPart, { error: commandError });

const pathOrCommandError = 'must be a path, or a JSON array of strings, the program first';
/** A file, or a program with its arguments. */
export const pathOrCommand = z.union([path, command], { error: pathOrCommandError });

/** The address of a store, null for none. Whether it is safe enough is checked beside `insecure_stores`. */
export function storeUrl(...protocols: readonly string[]) {
  const error = `must be an address that begins with ${protocols.map((protocol) => `${protocol}://`).join(' or ')}`;
  return z
    .string({ error })
    .refine(
      (text) => protocols.some((protocol) => text.startsWith(`${protocol}://`) && text.length > protocol.length + 3),
      {
        error,
      },
    )
    .nullable();
}

export const databaseName = z
  .string({ error: 'must be a name' })
  .regex(/^[A-Za-z0-9_-]{1,50}$/, { error: 'must be 1 to 50 letters, digits, _ and -' });
