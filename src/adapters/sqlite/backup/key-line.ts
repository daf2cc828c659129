/** A key store row in a backup. Each row is one line of JSON, with bytes encoded in base64. */
export type KeyLine = { readonly table: string; readonly row: Readonly<Record<string, unknown>> };

export function encodeKeyLine({ table, row }: KeyLine): string {
  const values = Object.entries(row).map(([name, value]) => [
    name,
    value instanceof Uint8Array ? { $bytes: Buffer.from(value).toString('base64') } : value,
  ]);
  return `${JSON.stringify({ table, row: Object.fromEntries(values) })}\n`;
}

/** Returns the row in a backup line, or null if the line is not a row. */
export function decodeKeyLine(line: string): KeyLine | null {
  try {
    const { table, row } = JSON.parse(line) as KeyLine;
    if (typeof table !== 'string' || typeof row !== 'object') return null;
    const values = Object.entries(row).map(([name, value]) => [
      name,
      isBytes(value) ? Buffer.from(value.$bytes, 'base64') : value,
    ]);
    return { table, row: Object.fromEntries(values) };
  } catch {
    return null;
  }
}

function isBytes(value: unknown): value is { readonly $bytes: string } {
  return typeof value === 'object' && value !== null && '$bytes' in value;
}
