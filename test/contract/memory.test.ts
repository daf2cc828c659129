import { memoryRateLimits } from '#src/adapters/memory/memory-rate-limits.js';
import { rateLimitsContract } from './rate-limits.js';

rateLimitsContract('memory', async (clock) => memoryRateLimits(clock));
