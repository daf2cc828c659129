/** The access that a group at the identity provider grants to its members (`console.oidc.groups`). */
export type GroupRule = {
  readonly group: string;
  /** The tenant that owns the applications, or null if the group grants access to no application. */
  readonly tenantId: string | null;
  /** The id of a private application, or null if the group grants access to no private application. */
  readonly private: string | null;
  readonly management: string | null;
  readonly isOperator: boolean;
};

export type OpenedByGroups = Omit<GroupRule, 'group'>;

/**
 * Returns the access granted by a person's groups. If several rules match, the first one that names a tenant determines
 * the session's tenant. For each type of application, the first matching rule of that tenant determines the
 * application. A session therefore never mixes tenants.
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
