/** Returns a line of CSV (RFC 4180) that ends with CR and LF. Null becomes an empty field. */
export function csvLine(fields: readonly (string | null)[]): string {
  return `${fields.map((field) => csvField(field ?? '')).join(',')}\r\n`;
}

/**
 * Threat: an attacker stores a value that begins with one of these characters, and a spreadsheet program runs the value
 * as a formula. If the field begins with a single quote, the program treats it as text.
 */
const formula = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

function csvField(field: string): string {
  const text = formula.test(field) ? `'${field}` : field;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
