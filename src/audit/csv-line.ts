/** Returns a line of CSV (RFC 4180), which ends with CR and LF. Null becomes an empty field. */
export function csvLine(fields: readonly (string | null)[]): string {
  return `${fields.map((field) => csvField(field ?? '')).join(',')}\r\n`;
}

/**
 * Threat: a spreadsheet runs a field that begins with one of these characters as a formula. A leading single quote
 * makes the field text.
 */
const formula = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

function csvField(field: string): string {
  const text = formula.test(field) ? `'${field}` : field;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
