import type { StreamingRead } from '@eventstore/db-client';
import { noAnswer } from './failure.js';

/**
 * Reads to the end and hands on each event: a read that is left early leaks a call of the connection, after about a
 * hundred of which all hang. The first event or the end must come within `limitMs`, each further one within `idleMs`
 * of the one before; else the read is cancelled and this rejects with StoreUnavailable. `take` must not throw.
 */
export function collect<T>(
  read: StreamingRead<T>,
  { limitMs, idleMs }: { readonly limitMs: number; readonly idleMs: number },
  take: (event: T) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout;
    const watch = (ms: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        reject(noAnswer());
        read.removeAllListeners('data');
        read.cancel().catch(() => undefined);
      }, ms);
    };
    // Stays after the end of this promise, so that no later error of the call is without a listener.
    read.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    read.on('end', () => {
      clearTimeout(timer);
      resolve();
    });
    read.on('data', (event: T) => {
      watch(idleMs);
      take(event);
    });
    watch(limitMs);
  });
}
