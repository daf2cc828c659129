import { z } from 'zod';
import { applicationTypes } from '../../domain/access/application-type.js';
import { managementPermissions, permissionCatalogue, tokenPermissions } from '../../domain/access/permission.js';
import { documented } from '../openapi/operation.js';
import type { Routes } from '../routes.js';
import { sendJson } from '../send-json.js';

/** A permission with the application types that can have it (docs/contract.md, "List permissions"). */
const permission = z
  .object({
    type: z.enum([...tokenPermissions, ...managementPermissions]).meta({ description: 'The name of the permission.' }),
    description: z.string().meta({ description: 'A human-readable description of what the permission allows.' }),
    application_types: z
      .array(z.enum(applicationTypes))
      .meta({ description: 'The application types that may hold the permission.' }),
  })
  .meta({ id: 'Permission', description: 'A permission that an application may hold.' });

const operation = documented({
  id: 'listPermissions',
  tag: 'Applications',
  summary: 'List permissions',
  description: 'Returns all permissions, or only those that an application of one of the given types may hold.',
  query: z.object({
    application_type: z
      .array(z.enum(applicationTypes))
      .optional()
      .meta({ description: 'Returns only permissions that applications of these types may hold.' }),
  }),
  answers: {
    200: {
      description: 'The permissions.',
      schema: z.array(permission),
      example: [
        {
          type: 'token:create',
          description: 'Create tokens, including with tokenize',
          application_types: ['private', 'public'],
        },
      ],
    },
  },
});

type Query = { readonly application_type?: string | readonly string[] };

/**
 * `GET /permissions` lists all permissions, or only the permissions for one application type (docs/contract.md, "List
 * permissions").
 */
export const listPermissionsRoute: Routes = (app) => {
  app.get<{ Querystring: Query }>(
    '/permissions',
    { config: { permission: 'any_key', operation } },
    async (request, reply) => {
      const { application_type: given } = request.query;
      const wanted: readonly string[] | undefined = typeof given === 'string' ? [given] : given;
      const listed = permissionCatalogue.filter(
        ({ application_types: types }) => wanted === undefined || types.some((type) => wanted.includes(type)),
      );
      return sendJson(reply, 200, listed);
    },
  );
};
