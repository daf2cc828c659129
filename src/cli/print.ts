import type { Json } from '../domain/json.js';

/** Prints what a verb was asked for: one line of JSON with `--json`, else a text for a person. */
export function print(value: Json, { json }: { readonly json?: boolean | undefined }, text: () => string): void {
  printLine(json === true ? JSON.stringify(value) : text());
}

/**
 * Prints a text with its control characters written as in JSON, but for line ends and tabs. Threat: what an application stored
 * is shown to an operator, whose terminal would obey it. JSON.stringify leaves U+007F to U+009F as they are.
 */
export function printLine(text: string): void {
  process.stdout.write(`${text.replaceAll(control, escaped)}\n`);
}

const control = /[^\P{Cc}\n\t]/gu;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
