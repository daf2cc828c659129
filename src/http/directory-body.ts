import { z } from 'zod';
import { applicationTypes } from '../domain/access/application-type.js';
import type { Json } from '../domain/json.js';

const json = z.custom<Json>(() => true);
const text = z.string({ error: 'must be a string' });
const anObject = { error: 'must be a JSON object' };
const access = { permissions: json.optional(), rules: json.optional() };

/** The bodies of section 10 by their JSON types alone; the domain checks the rest. Unknown fields are ignored. */
export const createApplicationBody = z.object(
  {
    name: text,
    type: z.enum(applicationTypes, { error: `must be one of ${applicationTypes.join(', ')}` }),
    ...access,
    expires_at: text.nullish(),
  },
  anObject,
);

export const updateApplicationBody = z.object(
  { name: text, type: json.optional(), ...access, expires_at: text.nullish() },
  anObject,
);

export const updateTenantBody = z.object({ name: text, settings: json.optional() }, anObject);

export const deleteTenantBody = z.object({ name: text }, anObject);
