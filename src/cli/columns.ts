/** Rows of cells as lines whose columns stand below each other; the last column is as long as it is. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const last = Math.max(0, ...rows.map((row) => row.length)) - 1;
  const widths = Array.from({ length: Math.max(0, last) }, (_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
