import { problemText, StoreProblem } from '../../ports/store-problem.js';
import { fullDiskText, StoreUnavailable } from '../../ports/store-unavailable.js';

/** Matches a short word in the form of a class name or an error code. Any other text could be data. */
const namePattern = /^[A-Za-z_$][A-Za-z0-9_$]{0,63}$/;
const codePattern = /^[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)*$/;
const codeCharactersMax = 64;

export type LoggedError = {
  readonly name: string;
  readonly code?: string;
  readonly problem?: string;
  readonly stack?: string;
};

/**
 * Returns the parts of an error that may be logged: its name, code and stack frames. Never returns `message`, `cause`
 * or other properties, because libraries quote their input in them (docs/contract.md, "Log lines"). For our own errors
 * about stores, `problem` names the store or the file and says what is wrong. A thrown value that is not an Error is
 * logged only as `NotAnError`.
 */
export function loggedError(error: unknown): LoggedError {
  if (!(error instanceof Error)) return { name: 'NotAnError' };
  const name = namePattern.test(error.name) ? error.name : 'Error';
  const code = 'code' in error ? error.code : undefined;
  const isWord = typeof code === 'string' && code.length <= codeCharactersMax && codePattern.test(code);
  const frames = framesOf(error);
  const problem = problemIn(error);
  return {
    name,
    ...(isWord ? { code } : {}),
    ...(problem === null ? {} : { problem }),
    ...(frames.length > 0 ? { stack: frames.join('\n') } : {}),
  };
}

/**
 * Returns what an error about a store says. All of this text comes from our own code. Returns null for other errors.
 */
function problemIn(error: Error): string | null {
  if (error instanceof StoreProblem) return error.message;
  if (!(error instanceof StoreUnavailable)) return null;
  if (error.found !== null) return problemText(error.found);
  return error.reason === 'full' ? `${fullDiskText(error.store)}.` : `${error.store}: ${error.reason}`;
}

/** Matches a V8 stack frame: `at name (location)` or `at location`. */
const framePattern = /^ {4}at (?:[^()]* \()?(?:(?:file:\/\/|node:|\/|[A-Z]:\\).*:\d+:\d+|<anonymous>|index \d+)\)?$/;
/** Matches a class name, with or without a Node.js error code, such as `TypeError [ERR_INVALID_ARG_TYPE]`. */
const headPattern = /^[^\n:]+$/;

/**
 * Returns the `at …` lines of an error's stack. A stack begins with the error's name and its original message, which
 * may contain lines that look like frames. The result therefore includes only the lines that follow the message, up to
 * the first line that is not a frame.
 *
 * The message may have been changed after the error was created. In that case, the current message is not at the
 * expected position, and the lines of the original message cannot be distinguished from the frames. The result is then
 * empty.
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
