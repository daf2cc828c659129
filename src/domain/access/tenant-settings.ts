/** The settings of a tenant (docs/contract.md, "Tenants"). */
export type TenantSettings = {
  readonly deduplicate_tokens: 'true' | 'false';
  readonly keep_superseded_data: 'true' | 'false';
  readonly show_fingerprints: 'true' | 'false';
};
