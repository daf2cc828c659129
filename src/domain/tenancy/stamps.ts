/**
 * Who created a tenant, an application or a webhook, who last modified it, and when. An author is an application id or
 * `operator`. Times are in ms since the epoch.
 */
export type Stamps = {
  readonly created_by: string;
  readonly created_at: number;
  readonly modified_by: string | null;
  readonly modified_at: number | null;
};

/** Returns the time of the last change, in ms since the epoch. If there was no change, returns the time of creation. */
export function lastChangeOf({ created_at, modified_at }: Pick<Stamps, 'created_at' | 'modified_at'>): number {
  return modified_at ?? created_at;
}
