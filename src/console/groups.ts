/** What the members of a group at the identity provider may access (`console.oidc.groups`). */
export type GroupRule = {
  readonly group: string;
  /** The tenant that owns the applications. Null if the group gives access to no application. */
  readonly tenantId: string | null;
  /** The id of a private application. Null if the group gives access to none. */
  readonly private: string | null;
  readonly management: string | null;
  readonly isOperator: boolean;
};

export type OpenedByGroups = Omit<GroupRule, 'group'>;

/**
 * Returns what a person's groups give access to. If several rules match, the first rule that has a tenant determines
 * the tenant. For each type of application, the first matching rule of that tenant determines the application.
 * Therefore a session never mixes tenants.
 */
export function openedBy(rules: readonly GroupRule[], groups: readonly string[]): OpenedByGroups {
  const matching = rules.filter(({ group }) => groups.includes(group));
  const tenantId = matching.find((rule) => rule.tenantId !== null)?.tenantId ?? null;
  const ofTenant = matching.filter((rule) => rule.tenantId !== null && rule.tenantId === tenantId);
  return {
    tenantId,
    private: ofTenant.find((rule) => rule.private !== null)?.private ?? null,
    management: ofTenant.find((rule) => rule.management !== null)?.management ?? null,
    isOperator: matching.some(({ isOperator }) => isOperator),
  };
}
