import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { HeaderNames, Service } from './service.js';

export type TypedApp = ReturnType<typeof typed>;

/** Returns the given app with a type that derives body types from the schemas. */
export function typed(app: FastifyInstance) {
  return app.withTypeProvider<ZodTypeProvider>();
}

/** Adds the routes of one file to the app. */
export type Routes = (app: TypedApp, service: Service, headerNames: HeaderNames) => void;

export type TokenParams = { readonly id: string };

export type ApplicationParams = { readonly id: string };
