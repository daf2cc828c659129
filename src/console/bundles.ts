import type { Bundle, OperationOutcome } from './operations.js';
import type { OnProgress, TaskName, TaskState, Tasks } from './tasks.js';

/** The time, in ms, for which a finished bundle can be downloaded. */
export const bundleMs = 15 * 60_000;

/** The session and tenant that a bundle belongs to. No other session can see or download the bundle. */
export type BundleOwner = { readonly sessionId: string; readonly tenantId: string };

/**
 * The evidence bundles that sessions have requested from this process. For each tenant, only one bundle is made at a
 * time.
 */
export type Bundles = {
  /**
   * Starts making a bundle, which replaces the session's previous bundle. `busy` means that another bundle of this
   * tenant is being made.
   */
  start(
    owner: BundleOwner,
    make: (onProgress: OnProgress) => Promise<OperationOutcome<Bundle>>,
  ): Promise<'started' | 'busy'>;
  state(owner: BundleOwner): TaskState;
  /** Returns the finished bundle. Returns null if there is none, or if it was finished more than 15 minutes ago. */
  find(owner: BundleOwner): Bundle | null;
  /**
   * Removes the files of all finished bundles. A bundle that is still being made is removed as soon as it is finished.
   */
  close(): Promise<void>;
};

/** `bundle` is null if the bundle could not be made. */
type Finished = { readonly bundle: Bundle | null; readonly expiry: NodeJS.Timeout };

export function createBundles(tasks: Tasks, onError: (error: unknown) => void): Bundles {
  const finished = new Map<TaskName, Finished>();
  /**
   * The tenants for which a bundle is being made. Threat: making a bundle reads the whole log and uses disk space, so
   * many bundles at the same time would overload the machine.
   */
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

  /**
   * Removes a finished bundle after 15 minutes. Threat: otherwise, a tenant's history would stay in the folder for
   * temporary files.
   */
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

/**
 * The name contains the tenant, because a session that is based on groups may switch to another tenant when the groups'
 * applications change.
 */
function nameOf({ sessionId, tenantId }: BundleOwner): TaskName {
  return `bundle ${tenantId} ${sessionId}`;
}
