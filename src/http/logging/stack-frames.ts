/** `at name (place)` or `at place`, as V8 writes them. */
const framePattern = /^ {4}at (?:[^()]* \()?(?:(?:file:\/\/|node:|\/|[A-Z]:\\).*:\d+:\d+|<anonymous>|index \d+)\)?$/;
/** A class name, or one with a code as Node.js writes it: `TypeError [ERR_INVALID_ARG_TYPE]`. */
const namePattern = /^[^\n:]+$/;

/**
 * The lines `at …` of an error's stack. A stack begins with name and message as they were when the error was made, and
 * a message may hold lines that look like frames. So only what follows the message counts, up to the first other line.
 * When the message is not where it should be, it was changed since, nothing tells the two apart, and there are none.
 */
export function framesOf(error: Error): readonly string[] {
  const { message, stack } = error;
  if (typeof stack !== 'string' || typeof message !== 'string') return [];
  const separator = message === '' ? '\n' : `: ${message}\n`;
  const nameEnd = stack.indexOf(separator);
  if (nameEnd === -1 || !namePattern.test(stack.slice(0, nameEnd))) return [];
  const lines = stack.slice(nameEnd + separator.length).split('\n');
  const end = lines.findIndex((line) => !framePattern.test(line));
  return (end === -1 ? lines : lines.slice(0, end)).map((line) => line.trim());
}
