/** A table cell. Null represents a missing value and is shown as `-`. */
export type Cell = string | number | null;

/**
 * Returns a table as lines, with an uppercase header and two spaces between columns. Numbers are right-aligned and text
 * is left-aligned. Every table that a command prints is built here. `widths` sets minimum column widths, for a table
 * that is printed in parts.
 */
export function table(
  header: readonly string[],
  rows: readonly (readonly Cell[])[],
  widths: readonly number[] = [],
): readonly string[] {
  const shown = rows.map((row) => row.map((cell) => (cell === null ? '-' : String(cell))));
  const isNumeric = header.map((_, column) => isNumbers(rows.map((row) => row[column] ?? null)));
  const lines = [header.map((name) => name.toUpperCase()), ...shown];
  const needed = header.map((_, column) =>
    Math.max(widths[column] ?? 0, ...lines.map((line) => (line[column] ?? '').length)),
  );
  return lines.map((line) =>
    line
      .map((cell, column) =>
        isNumeric[column] ? cell.padStart(needed[column] ?? 0) : cell.padEnd(needed[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
}

function isNumbers(cells: readonly Cell[]): boolean {
  return cells.some((cell) => typeof cell === 'number') && cells.every((cell) => typeof cell !== 'string');
}
