import type { Bundle, OperationOutcome } from './operations.js';
import type { OnProgress, TaskName, TaskState, Tasks } from './tasks.js';

/** How long a bundle can be downloaded after it is finished. */
export const bundleMs = 15 * 60_000;

/** Whose bundle it is. No other session can see or download it. */
export type BundleOwner = { readonly sessionId: string; readonly tenantId: string };

/** The bundles of evidence that sessions have asked for: one of each tenant at a time, in this process. */
export type Bundles = {
  /** Starts making a bundle in place of the session's last one. `busy`: the tenant has one that is being made. */
  start(
    owner: BundleOwner,
    make: (onProgress: OnProgress) => Promise<OperationOutcome<Bundle>>,
  ): Promise<'started' | 'busy'>;
  state(owner: BundleOwner): TaskState;
  /** Returns a finished bundle; null if there is none. It stays until 15 minutes after it was finished. */
  find(owner: BundleOwner): Bundle | null;
  /** Removes the files of all bundles. */
  close(): Promise<void>;
};

/** `bundle` is null if it could not be made. */
type Finished = { readonly bundle: Bundle | null; readonly expiry: NodeJS.Timeout };

export function createBundles(tasks: Tasks, onError: (error: unknown) => void): Bundles {
  const finished = new Map<TaskName, Finished>();
  /** Threat: each bundle reads the whole log and fills the disk, so many at once would use up the machine. */
  const busyTenants = new Set<string>();
  let isClosed = false;

  async function remove(name: TaskName): Promise<void> {
    const found = finished.get(name);
    finished.delete(name);
    tasks.forget(name);
    if (found === undefined) return;
    clearTimeout(found.expiry);
    await found.bundle?.remove();
  }

  /** Threat: the history of a tenant would stay in the folder for temporary files. */
  function keepForAWhile(name: TaskName, bundle: Bundle | null): void {
    const expiry = setTimeout(() => void remove(name).catch(onError), bundleMs);
    expiry.unref();
    finished.set(name, { bundle, expiry });
  }

  return {
    async start(owner, make) {
      if (busyTenants.has(owner.tenantId)) return 'busy';
      busyTenants.add(owner.tenantId);
      const name = nameOf(owner);
      await remove(name).catch(onError);
      tasks.start(name, async (onProgress) => {
        try {
          const made = await make(onProgress);
          if (made.ok && isClosed) await made.value.remove();
          else keepForAWhile(name, made.ok ? made.value : null);
          return made.ok ? { ok: true, value: null } : made;
        } finally {
          busyTenants.delete(owner.tenantId);
        }
      });
      return 'started';
    },
    state: (owner) => tasks.state(nameOf(owner)),
    find: (owner) => finished.get(nameOf(owner))?.bundle ?? null,
    async close() {
      isClosed = true;
      await Promise.all([...finished.keys()].map(remove));
    },
  };
}

/** Groups may lead a session to another tenant after a change of applications. */
function nameOf({ sessionId, tenantId }: BundleOwner): TaskName {
  return `bundle ${tenantId} ${sessionId}`;
}
