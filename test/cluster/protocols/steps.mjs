import { writeSync } from 'node:fs';

/**
 * Counts a command's store calls, and runs them one after another. Stops this process before a selected call, or after
 * the last call.
 */
export function createSteps() {
  let stop = null;
  let count = 0;
  let last = Promise.resolve();

  function reach(step) {
    if (stop === null || step !== stop.at) return;
    const { signal } = stop;
    stop = null;
    // The write is synchronous, because this process runs no more code once the signal arrives.
    if (signal === 'SIGSTOP') writeSync(1, '"stopped"\n');
    process.kill(process.pid, signal);
  }

  /**
   * Waits for all earlier calls, and then runs this call. If the process must stop before this call, stops the process
   * instead.
   */
  function take(call) {
    if (stop === null) return call();
    const taken = last.then(() => {
      count += 1;
      reach(count);
      return call();
    });
    last = taken.then(
      () => undefined,
      () => undefined,
    );
    return taken;
  }

  const connection = (real) => ({ ...real, call: (work) => take(() => real.call(work)) });
  const log = (real) => {
    const names = ['append', 'readStream', 'readFrom', 'readClearFrom', 'readNewest', 'readAll', 'readClear', 'head'];
    return Object.fromEntries(names.map((name) => [name, (...given) => take(() => real[name](...given))]));
  };
  return {
    connection,
    log,
    /**
     * Runs a command. The process stops before call number `wanted.at`. If this number is one higher than the number of
     * calls, the process stops after the last call.
     */
    async during(wanted, command) {
      stop = wanted;
      count = 0;
      const answer = await command();
      reach(count + 1);
      stop = null;
      return answer;
    },
  };
}
