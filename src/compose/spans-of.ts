import { onceAMinute } from '../adapters/shared/once-a-minute.js';
import type { Spans } from '../ports/spans.js';
import type { Config } from './config/config.js';

/**
 * Creates the trace recorder configured by the settings. Returns null if tracing is off. If traces are lost, calls
 * `onError` at most once per minute.
 */
export async function spansOf(
  { settings }: Config,
  version: string,
  onError: (error: unknown) => void,
): Promise<Spans | null> {
  const endpoint = settings['tracing.endpoint'];
  if (endpoint === null) return null;
  // We load this module on demand, so a service without tracing does not load OpenTelemetry.
  const { openTelemetrySpans } = await import('../adapters/opentelemetry/opentelemetry-spans.js');
  return openTelemetrySpans({
    endpoint,
    sampleRatio: settings['tracing.sample_ratio'],
    version,
    onError: onceAMinute(onError),
  });
}
