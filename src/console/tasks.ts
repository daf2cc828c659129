import type { Json } from '../domain/json.js';
import type { OnProgress, OperationOutcome } from './operations.js';

/**
 * The name of a task. All sessions share `checks` and `verification`. Each session makes its evidence bundles in its
 * own task.
 */
export type TaskName = 'checks' | 'verification' | `bundle ${string}`;

/** The state of a task. Times are in ms since the epoch. `total` is 0 until the total is known. */
export type TaskState =
  | { readonly state: 'none' }
  | { readonly state: 'running'; readonly beganAt: number; readonly done: number; readonly total: number }
  | { readonly state: 'ended'; readonly endedAt: number; readonly value: Json }
  | { readonly state: 'failed'; readonly endedAt: number; readonly message: string };

/**
 * Runs work that takes longer than a request may take. For each name, this process runs one task at a time and stores
 * the result of the last task.
 */
export type Tasks = {
  /**
   * Starts a task. If a task with this name is already running, does nothing. `run` returns either the result or a
   * failure message.
   */
  start(name: TaskName, run: (onProgress: OnProgress) => Promise<OperationOutcome<Json>>): void;
  state(name: TaskName): TaskState;
  /** Drops the result of a task. If the task is still running, does nothing. */
  forget(name: TaskName): void;
};

/** Creates the tasks for one console. `onError` receives unexpected errors. */
export function createTasks(now: () => number, onError: (error: unknown) => void): Tasks {
  const states = new Map<TaskName, TaskState>();
  return {
    start(name, run) {
      if (states.get(name)?.state === 'running') return;
      const beganAt = now();
      states.set(name, { state: 'running', beganAt, done: 0, total: 0 });
      run((done, total) => void states.set(name, { state: 'running', beganAt, done, total })).then(
        (outcome) =>
          void states.set(
            name,
            outcome.ok
              ? { state: 'ended', endedAt: now(), value: outcome.value }
              : { state: 'failed', endedAt: now(), message: outcome.message },
          ),
        (error: unknown) => {
          onError(error);
          const message = 'The task failed with an unexpected error. See the service log.';
          states.set(name, { state: 'failed', endedAt: now(), message });
        },
      );
    },
    state: (name) => states.get(name) ?? { state: 'none' },
    forget(name) {
      if (states.get(name)?.state !== 'running') states.delete(name);
    },
  };
}
