import type { Json } from '../domain/json.js';

/** Prints what a verb was asked for: one line of JSON with `--json`, else a text for a person. */
export function print(value: Json, { json }: { readonly json?: boolean | undefined }, text: () => string): void {
  process.stdout.write(`${json === true ? JSON.stringify(value) : text()}\n`);
}
