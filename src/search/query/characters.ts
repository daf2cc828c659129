/** What a field name or an unquoted metadata key consists of: letters of any script with their marks, digits, `_ - .` */
const nameRun = /[\p{L}\p{M}\p{Nd}_.-]+/uy;
/** What an unquoted value may hold (contract, section 7), and `*`, which only some values may. */
const valueRun = /[\p{L}\p{M}\p{Nd}\-_.@:/+',#$%&=~*]+/uy;
const spaceRun = /\s+/uy;

const runs = { name: nameRun, value: valueRun, space: spaceRun } as const;

/** The longest run of such characters that begins at an index; empty when there is none. */
export function runAt(text: string, index: number, of: keyof typeof runs): string {
  const run = runs[of];
  run.lastIndex = index;
  return run.exec(text)?.[0] ?? '';
}
