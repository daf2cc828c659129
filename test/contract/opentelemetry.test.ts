import { openTelemetrySpans } from '#src/adapters/opentelemetry/opentelemetry-spans.js';
import { startCollector } from '../support/collector.js';
import { spansContract } from './spans.js';

spansContract('opentelemetry', async () => {
  const { endpoint, spans: collected } = await startCollector();
  const onError = (error: Error) => {
    throw error;
  };
  return { spans: openTelemetrySpans({ endpoint, sampleRatio: 1, version: '0', onError }), collected };
});
