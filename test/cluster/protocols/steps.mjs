import { writeSync } from 'node:fs';

/**
 * Counts a command's store calls, runs them one after another, and stops this process before a given call or after all
 * of them.
 */
export function createSteps() {
  let stop = null;
  let count = 0;
  let last = Promise.resolve();

  function reach(step) {
    if (stop === null || step !== stop.at) return;
    const { signal } = stop;
    stop = null;
    // Written synchronously, because nothing in this process runs after the next line.
    if (signal === 'SIGSTOP') writeSync(1, '"stopped"\n');
    process.kill(process.pid, signal);
  }

  /** Runs a call in its turn, unless the process must stop before that call. */
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
    const names = ['append', 'readStream', 'readFrom', 'readClearFrom', 'readAll', 'readClear', 'head'];
    return Object.fromEntries(names.map((name) => [name, (...given) => take(() => real[name](...given))]));
  };
  return {
    ...{ connection, log },
    /**
     * Runs a command. `at` is the call before which the process stops. If `at` is one more than the number of calls,
     * the process stops after the last one.
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
