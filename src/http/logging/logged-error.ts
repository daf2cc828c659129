/** Short words in the style of a class name or an error code; anything else could be data. */
const namePattern = /^[A-Za-z_$][A-Za-z0-9_$]{0,63}$/;
const codePattern = /^[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)*$/;
const codeCharactersMax = 64;

export type LoggedError = { readonly name: string; readonly code?: string; readonly stack?: string };

/**
 * What a log line says about an error: name, code and stack frames. Never `message`, `cause` or other properties,
 * because libraries quote their input there (docs/contract.md, "Log lines"). Whatever was thrown that is no error is
 * only called that.
 */
export function loggedError(error: unknown): LoggedError {
  if (!(error instanceof Error)) return { name: 'NotAnError' };
  const name = namePattern.test(error.name) ? error.name : 'Error';
  const code = 'code' in error ? error.code : undefined;
  const isWord = typeof code === 'string' && code.length <= codeCharactersMax && codePattern.test(code);
  const frames = framesOf(error);
  return { name, ...(isWord ? { code } : {}), ...(frames.length > 0 ? { stack: frames.join('\n') } : {}) };
}

/** `at name (place)` or `at place`, as V8 writes them. */
const framePattern = /^ {4}at (?:[^()]* \()?(?:(?:file:\/\/|node:|\/|[A-Z]:\\).*:\d+:\d+|<anonymous>|index \d+)\)?$/;
/** A class name, or one with a code as Node.js writes it: `TypeError [ERR_INVALID_ARG_TYPE]`. */
const headPattern = /^[^\n:]+$/;

/**
 * The lines `at …` of an error's stack. A stack begins with name and message as they were when the error was made, and
 * a message may hold lines that look like frames. So only what follows the message counts, up to the first other line.
 * When the message is not where it should be, it was changed since, nothing tells the two apart, and there are none.
 */
function framesOf(error: Error): readonly string[] {
  const { message, stack } = error;
  if (typeof stack !== 'string' || typeof message !== 'string') return [];
  const separator = message === '' ? '\n' : `: ${message}\n`;
  const nameEnd = stack.indexOf(separator);
  if (nameEnd === -1 || !headPattern.test(stack.slice(0, nameEnd))) return [];
  const lines = stack.slice(nameEnd + separator.length).split('\n');
  const end = lines.findIndex((line) => !framePattern.test(line));
  return (end === -1 ? lines : lines.slice(0, end)).map((line) => line.trim());
}
