import type { DocumentedOperation } from './operations-of.js';

/** The request as a command to paste; the key comes from a file, so that no history keeps it. */
export function curlText({ method, path, security = [], requestBody }: DocumentedOperation): string {
  const [[type, media] = []] =
    requestBody !== undefined && 'content' in requestBody ? Object.entries(requestBody.content) : [];
  const example = media?.example;
  const parts = [
    `curl -sS${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} "$STRONGROOM${path}"`,
    ...(security.length === 0 ? [] : ['-H @key.header']),
    ...(type === undefined ? [] : [`-H 'Content-Type: ${type}'`]),
    ...(example === undefined ? [] : [`-d '${JSON.stringify(example).replaceAll("'", `'\\''`)}'`]),
  ];
  return parts.join(' \\\n  ');
}
