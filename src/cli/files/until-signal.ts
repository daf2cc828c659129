import { Failure } from '../failure.js';

/** A closed terminal sends SIGHUP. Without a listener for it, the command would leave an incomplete file. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Records the first of these signals and calls `onSignal`, so that a command can stop cleanly. The second signal ends
 * the process immediately.
 */
export function untilSignal(onSignal: () => void) {
  let came = false;

  function note(): void {
    end();
    came = true;
    onSignal();
  }

  function end(): void {
    for (const signal of signals) process.removeListener(signal, note);
  }

  for (const signal of signals) process.on(signal, note);
  return { came: () => came, end };
}

/**
 * Runs the work with an AbortSignal that the first of these signals aborts. The reason of the AbortSignal is a Failure
 * with the message.
 */
export async function interruptible<T>(message: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const interrupt = untilSignal(() => controller.abort(new Failure(message)));
  try {
    return await work(controller.signal);
  } finally {
    interrupt.end();
  }
}
