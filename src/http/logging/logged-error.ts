import { framesOf } from './stack-frames.js';

/** Short words in the style of a class name or an error code; anything else could be data. */
const namePattern = /^[A-Za-z_$][A-Za-z0-9_$]{0,63}$/;
const codePattern = /^[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)*$/;
const codeCharactersMax = 64;

export type LoggedError = { readonly name: string; readonly code?: string; readonly stack?: string };

/**
 * What a log line says about an error: name, code and stack frames. Never `message`, `cause` or other properties,
 * because libraries quote their input there (contract, section 13). Whatever was thrown that is no error is only
 * called that.
 */
export function loggedError(error: unknown): LoggedError {
  if (!(error instanceof Error)) return { name: 'NotAnError' };
  const name = namePattern.test(error.name) ? error.name : 'Error';
  const code = 'code' in error ? error.code : undefined;
  const isWord = typeof code === 'string' && code.length <= codeCharactersMax && codePattern.test(code);
  const frames = framesOf(error);
  return { name, ...(isWord ? { code } : {}), ...(frames.length > 0 ? { stack: frames.join('\n') } : {}) };
}
