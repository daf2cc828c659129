import { permissionCatalogue } from '../../../domain/access/permission-catalogue.js';
import type { Routes } from '../../routes.js';
import { sendJson } from '../../send-json.js';
import { listPermissionsOperation as operation } from './operation.js';

type Query = { readonly application_type?: string | readonly string[] };

/** `GET /permissions` (contract, section 10): all, or those that a type of application may hold. */
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
