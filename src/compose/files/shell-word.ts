/** Returns the text as one shell word, in quotes if necessary. A message that suggests a command must quote its paths. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
