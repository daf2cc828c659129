import type { Tracing } from '../adapters/opentelemetry/tracing.js';
import { onceAMinute } from '../adapters/time-limit/once-a-minute.js';
import type { Config } from './config/config.js';

/** Records traces as the settings say; null: not at all. `onError` learns at most once a minute that traces were lost. */
export async function tracingOf(
  { settings }: Config,
  version: string,
  onError: (error: unknown) => void,
): Promise<Tracing | null> {
  const endpoint = settings['tracing.endpoint'];
  if (endpoint === null) return null;
  // A service without traces does not load OpenTelemetry.
  const { openTracing } = await import('../adapters/opentelemetry/tracing.js');
  return openTracing({
    endpoint,
    sampleRatio: settings['tracing.sample_ratio'],
    version,
    onError: onceAMinute(onError),
  });
}
