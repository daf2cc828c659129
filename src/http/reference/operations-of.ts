import type { OpenAPIV3_1 } from 'openapi-types';

export type DocumentedOperation = OpenAPIV3_1.OperationObject & {
  readonly method: string;
  readonly path: string;
  readonly id: string;
};

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** Every operation of a document, by tag, in the order of the document. */
export function operationsOf({
  paths = {},
}: OpenAPIV3_1.Document): ReadonlyMap<string, readonly DocumentedOperation[]> {
  const all = Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item?.[method];
      return operation === undefined ? [] : [{ ...operation, method, path, id: operation.operationId ?? '' }];
    }),
  );
  const tags = [...new Set(all.map(({ tags: [tag = ''] = [] }) => tag))];
  return new Map(tags.map((tag) => [tag, all.filter(({ tags: [own = ''] = [] }) => own === tag)]));
}
