import { z } from 'zod';
import { operation } from './operation.js';

/** Confirms the clock to the process that holds the data. */
export const confirmClock = operation(z.object({}), async (service) => ({ was: await service.confirmClock() }));
