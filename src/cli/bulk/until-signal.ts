const signals = ['SIGINT', 'SIGTERM'] as const;

/**
 * Records the first SIGINT or SIGTERM and calls `onSignal`, so that a command can stop cleanly. The second signal ends
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
