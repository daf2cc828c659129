import type { OpenAPIV3_1 } from 'openapi-types';
import type { TestService } from '../../support/test-service.js';

export type Operation = OpenAPIV3_1.OperationObject & { readonly path: string; readonly method: string };

/** Returns the OpenAPI document served by the service. */
export async function documentOf(service: TestService): Promise<OpenAPIV3_1.Document> {
  const { text } = await service.call('GET', '/openapi.json', undefined, { key: null });
  return JSON.parse(text) as OpenAPIV3_1.Document;
}

export function operationsIn({ paths = {} }: OpenAPIV3_1.Document): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item ?? {}).map(([method, operation]) => ({
      ...(operation as OpenAPIV3_1.OperationObject),
      path,
      method,
    })),
  );
}

/** Returns the status, the media type and the content of every response that an operation can have. */
export function mediaOf({ responses = {} }: Operation) {
  return Object.entries(responses).flatMap(([status, response]) =>
    '$ref' in response
      ? []
      : Object.entries(response.content ?? {}).map(([type, media]) => ({ status: Number(status), type, media })),
  );
}
