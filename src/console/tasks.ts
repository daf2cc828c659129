import type { Json } from '../domain/json.js';

/** A task of the whole console, or the bundle of evidence of one session. */
export type TaskName = 'checks' | 'verification' | `bundle ${string}`;

/** A task's state. Times are in ms since the epoch. `total` is 0 while it is unknown. */
export type TaskState =
  | { readonly state: 'none' }
  | { readonly state: 'running'; readonly beganAt: number; readonly done: number; readonly total: number }
  | { readonly state: 'ended'; readonly endedAt: number; readonly value: Json }
  | { readonly state: 'failed'; readonly endedAt: number; readonly message: string };

/** Reports the progress of a task. */
export type OnProgress = (done: number, total: number) => void;

/** Work that takes too long for a request. This process runs one task per name at a time and keeps its last result. */
export type Tasks = {
  /** Starts a task unless one with this name is running. `run` returns the result or a message. */
  start(
    name: TaskName,
    run: (
      onProgress: OnProgress,
    ) => Promise<{ readonly ok: true; readonly value: Json } | { readonly ok: false; readonly message: string }>,
  ): void;
  state(name: TaskName): TaskState;
  /** Drops the result of a task. Does nothing while it is running. */
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
