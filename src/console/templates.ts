import { fileURLToPath } from 'node:url';
import { Liquid } from 'liquidjs';
import { formatTimestamp } from '../domain/time.js';
import { sentence, shownText } from './shown-text.js';

/**
 * The template folder. The relative path is valid both for a module in `dist/console` and for the program in
 * `dist/bin`.
 */
export const templatesFolder = fileURLToPath(new URL('../console/templates/', import.meta.url));

/**
 * Creates the template engine. It escapes every output as HTML, and treats an unknown variable or filter as an error.
 * Templates cannot call methods on values, and values are never parsed as templates.
 */
export function createTemplates(): Liquid {
  const engine = new Liquid({
    root: templatesFolder,
    extname: '.liquid',
    outputEscape: 'escape',
    strictFilters: true,
    strictVariables: true,
    ownPropertyOnly: true,
    jsTruthy: true,
    cache: true,
  });
  /**
   * `{{ value | shown }}` or `{{ value | shown: 40 }}` formats an untrusted value and makes its invisible characters
   * visible.
   */
  engine.registerFilter('shown', (value: unknown, max?: number) => shownText(value, max));
  /** `{{ error | sentence }}` formats an error such as `must be a path` as a sentence. */
  engine.registerFilter('sentence', (message: string) => sentence(message));
  /** `{{ ms | iso }}` formats a time for the HTML attribute `datetime`. */
  engine.registerFilter('iso', (ms: number) => formatTimestamp(ms));
  /** `{{ ms | utc }}` formats a time as `2026-01-31 12:00:00 UTC`. */
  engine.registerFilter('utc', (ms: number) => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`);
  /** `{{ number | grouped }}` formats a number as `1,234,567`. */
  engine.registerFilter('grouped', (value: number) => value.toLocaleString('en-US'));
  return engine;
}
