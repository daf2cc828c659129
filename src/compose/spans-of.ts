import { onceAMinute } from '../adapters/time-limit/once-a-minute.js';
import type { Spans } from '../ports/spans.js';
import type { Config } from './config/config.js';

/** Records traces as the settings say; null: not at all. `onError` learns at most once a minute that traces were lost. */
export async function spansOf(
  { settings }: Config,
  version: string,
  onError: (error: unknown) => void,
): Promise<Spans | null> {
  const endpoint = settings['tracing.endpoint'];
  if (endpoint === null) return null;
  // A service without traces does not load OpenTelemetry.
  const { openTelemetrySpans } = await import('../adapters/opentelemetry/opentelemetry-spans.js');
  return openTelemetrySpans({
    endpoint,
    sampleRatio: settings['tracing.sample_ratio'],
    version,
    onError: onceAMinute(onError),
  });
}
