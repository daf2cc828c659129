import { fileURLToPath } from 'node:url';
import { Liquid } from 'liquidjs';
import { formatTimestamp } from '../domain/time.js';
import { sentence, shownText } from './shown-text.js';

/** The template folder, as seen from a module in `dist/console` and from the program in `dist/bin`. */
export const viewsFolder = fileURLToPath(new URL('../console/views/', import.meta.url));

/**
 * Creates the template engine. Every output is HTML-escaped, an unknown variable or filter is an error, and templates
 * cannot call methods on their values. Values are only data and are never parsed as templates.
 */
export function createTemplates(): Liquid {
  const engine = new Liquid({
    root: viewsFolder,
    extname: '.liquid',
    outputEscape: 'escape',
    strictFilters: true,
    strictVariables: true,
    ownPropertyOnly: true,
    jsTruthy: true,
    cache: true,
  });
  /** `{{ value | shown }}` or `{{ value | shown: 40 }}`: an untrusted value, with invisible characters made visible. */
  engine.registerFilter('shown', (value: unknown, max?: number) => shownText(value, max));
  /** `{{ error | sentence }}`: `Must be a path.` */
  engine.registerFilter('sentence', (message: string) => sentence(message));
  /** `{{ ms | iso }}`: for the attribute `datetime`. */
  engine.registerFilter('iso', (ms: number) => formatTimestamp(ms));
  /** `{{ ms | utc }}`: `2026-01-31 12:00:00 UTC`. */
  engine.registerFilter('utc', (ms: number) => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`);
  /** `{{ number | grouped }}`: `1,234,567`. */
  engine.registerFilter('grouped', (value: number) => value.toLocaleString('en-US'));
  return engine;
}
