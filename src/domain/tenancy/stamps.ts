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
