/** The key written at `start` to `end`, its quotes included, which the caller has found to be a JSON string. */
export function keyAt(text: string, start: number, end: number): string {
  const key = text.slice(start + 1, end - 1);
  if (!key.includes('\\')) return key;
  const decoded: string = JSON.parse(`"${key}"`);
  return decoded;
}
