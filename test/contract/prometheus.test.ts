import { prometheusMetrics } from '#src/adapters/prometheus/prometheus-metrics.js';
import { metricsContract } from './metrics.js';

metricsContract('prometheus', prometheusMetrics);
