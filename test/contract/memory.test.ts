import { memoryConsoleSessions } from '#src/adapters/memory/memory-console-sessions.js';
import { memoryRateLimits } from '#src/adapters/memory/memory-rate-limits.js';
import { consoleSessionsContract } from './console-sessions.js';
import { rateLimitsContract } from './rate-limits.js';

rateLimitsContract('memory', async (clock) => memoryRateLimits(clock));
consoleSessionsContract('memory', async () => ({ sessions: memoryConsoleSessions(), close: async () => undefined }));
