const quote = 0x22;
const backslash = 0x5c;
const simpleEscapes = '"\\/bfnrt';

/** The position after the JSON string that begins at `start`, or where it stops being one, as a negative: ~position. */
export function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === quote) return at + 1;
    if (unit < 0x20) return ~at;
    if (unit !== backslash) continue;
    at += 1;
    if (text[at] === 'u') {
      for (let digit = 0; digit < 4; digit += 1) {
        at += 1;
        if (!isHexDigit(text.charCodeAt(at))) return ~at;
      }
    } else if (!simpleEscapes.includes(text[at] ?? ' ')) return ~at;
  }
  return ~text.length;
}

function isHexDigit(unit: number): boolean {
  return (unit >= 0x30 && unit <= 0x39) || (unit >= 0x41 && unit <= 0x46) || (unit >= 0x61 && unit <= 0x66);
}
