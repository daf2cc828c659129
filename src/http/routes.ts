import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { HeaderNames, Service } from './service.js';

export type TypedApp = ReturnType<typeof typed>;

/** Returns `app` with a type that derives the types of bodies from their schemas. */
export function typed(app: FastifyInstance) {
  return app.withTypeProvider<ZodTypeProvider>();
}

/** A function that adds the routes of one file to the app. */
export type Routes = (app: TypedApp, service: Service, headerNames: HeaderNames) => void;

export type IdParams = { readonly id: string };
