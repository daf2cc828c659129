/**
 * Who created and last modified a tenant, an application or a webhook, and when. The author is an application id or
 * `operator`, and times are in ms since the epoch.
 */
export type Stamps = {
  readonly created_by: string;
  readonly created_at: number;
  readonly modified_by: string | null;
  readonly modified_at: number | null;
};
