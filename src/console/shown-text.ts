/** Characters that are invisible or that change the order of other characters. */
const invisible = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;
/** Zero-width joiners between emoji. They are invisible, but harmless in this position. */
const joiners = /(?<=\p{Emoji}\p{Emoji_Modifier}?\u{FE0F}?)\u{200D}(?=\p{Emoji})/gu;
const placeholder = '\u{E000}';

/**
 * Formats a value for a page. Shows at most `max` characters, and shows each invisible character as its code point.
 * Pages also use `<bdi>` to isolate the value from the surrounding text. Threat: an attacker stores a right-to-left
 * override or a zero-width character to make one value look like a different value.
 */
export function shownText(value: unknown, max = 200): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  // A character has at most two code units, so the slice contains all characters that the page shows.
  const characters = [...text.slice(0, 2 * max + 2)];
  const isLong = characters.length > max || text.length > 2 * max + 2;
  const part = isLong ? characters.slice(0, max).join('') : text;
  const visible = part
    .replaceAll(placeholder, '\u{FFFD}')
    .replaceAll(joiners, placeholder)
    .replaceAll(invisible, (character) => (character === placeholder ? '\u{200D}' : `⟨U+${codePointOf(character)}⟩`));
  return isLong ? `${visible}…` : visible;
}

/**
 * Formats multiline text like `shownText`, but preserves the line breaks. `max` limits the total length of all lines.
 */
export function shownLines(text: string, max: number): string {
  const lines: string[] = [];
  let left = max;
  for (const line of text.slice(0, 2 * max + 2).split('\n')) {
    if (left <= 0) return `${lines.join('\n')}\n…`;
    lines.push(shownText(line, left));
    left -= line.length + 1;
  }
  return lines.join('\n');
}

function codePointOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}

/**
 * Formats a message such as `must be a path` as a sentence. In the API, the field's name precedes the message, but on a
 * page, the message appears alone next to the field. `place` is the part of the field that the message concerns, such
 * as `Line 2`.
 */
export function sentence(message: string, place: string | null = null): string {
  const said = message.startsWith('is ') ? `this ${message}` : message;
  const begun = place === null ? `${said.slice(0, 1).toUpperCase()}${said.slice(1)}` : `${place}: ${said}`;
  return `${begun}${/[.!?]$/.test(said) ? '' : '.'}`;
}
