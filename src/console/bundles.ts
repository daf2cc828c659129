import type { Bundle, OnProgress, OperationOutcome } from './operations.js';
import type { TaskName, TaskState, Tasks } from './tasks.js';

/** How long a completed bundle remains available for download, in ms. */
export const bundleMs = 15 * 60_000;

/** The session and tenant that a bundle belongs to. No other session can see or download the bundle. */
export type BundleOwner = { readonly sessionId: string; readonly tenantId: string };

/**
 * The evidence bundles that sessions have requested from this process. The process makes only one bundle per tenant at
 * a time.
 */
export type Bundles = {
  /**
   * Starts making a bundle that replaces the session's previous bundle. Returns `busy` if another bundle for this
   * tenant is being made.
   */
  start(
    owner: BundleOwner,
    make: (onProgress: OnProgress) => Promise<OperationOutcome<Bundle>>,
  ): Promise<'started' | 'busy'>;
  state(owner: BundleOwner): TaskState;
  /**
   * Returns the completed bundle. Returns null if no bundle is complete, or if the bundle was completed more than 15
   * minutes ago.
   */
  find(owner: BundleOwner): Bundle | null;
  /** Removes the files of all completed bundles. A bundle that is still being made is removed when it is complete. */
  close(): Promise<void>;
};

/** A task that has ended. `bundle` is null if the bundle could not be made. */
type Finished = { readonly bundle: Bundle | null; readonly expiry: NodeJS.Timeout };

export function createBundles(tasks: Tasks, onError: (error: unknown) => void): Bundles {
  const finished = new Map<TaskName, Finished>();
  /**
   * The tenants for which a bundle is being made. Threat: a person requests many bundles at the same time to overload
   * the machine. Making a bundle reads the whole log and uses disk space.
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
   * Stores the result of a task for 15 minutes and then removes it. Threat: an attacker who later gains access to the
   * machine finds a tenant's history in the temporary folder.
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
        let bundle: Bundle | null = null;
        try {
          const made = await make(onProgress);
          if (!made.ok) return made;
          if (isClosed) await made.value.remove();
          else bundle = made.value;
          return { ok: true, value: null };
        } finally {
          busyTenants.delete(owner.tenantId);
          keepForAWhile(name, bundle);
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
 * Returns the name of the task that makes a bundle. The name contains the tenant, because a session that is based on
 * groups can switch to a different tenant when the applications of these groups change.
 */
function nameOf({ sessionId, tenantId }: BundleOwner): TaskName {
  return `bundle ${tenantId} ${sessionId}`;
}
