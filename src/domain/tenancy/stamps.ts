/**
 * The creator and the last editor of a tenant or an application (an application id or `operator`), with times in ms.
 */
export type Stamps = {
  readonly created_by: string;
  readonly created_at: number;
  readonly modified_by: string | null;
  readonly modified_at: number | null;
};
