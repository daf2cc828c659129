import type { Json } from '../domain/json.js';

/** Prints the result of a command: one line of JSON with `--json`, else a text for a person. */
export function print(value: Json, { json }: { readonly json?: boolean | undefined }, text: () => string): void {
  printLine(json === true ? JSON.stringify(value) : text());
}

/**
 * Prints a text with its control characters escaped as in JSON, except line ends and tabs. Threat: an application
 * stores control sequences, and the terminal of an operator who views them would obey them. JSON.stringify does not
 * escape U+007F to U+009F.
 */
export function printLine(text: string): void {
  process.stdout.write(`${text.replaceAll(control, escaped)}\n`);
}

const control = /[^\P{Cc}\n\t]/gu;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
