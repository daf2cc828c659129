/** Returns a line of CSV (RFC 4180) that ends with CR and LF. Null becomes an empty field. */
export function csvLine(fields: readonly (string | null)[]): string {
  return `${fields.map((field) => csvField(field ?? '')).join(',')}\r\n`;
}

/**
 * Threat: a spreadsheet program runs a field that begins with one of these characters as a formula. With a leading
 * single quote, it treats the field as text.
 */
const formula = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

function csvField(field: string): string {
  const text = formula.test(field) ? `'${field}` : field;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
