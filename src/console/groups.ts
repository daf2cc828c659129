/** What members of one identity provider group may access (`console.oidc.groups`). */
export type GroupRule = {
  readonly group: string;
  /** The tenant that owns the applications, or null for a group that contains only operators. */
  readonly tenantId: string | null;
  /** An application's id, or null for none. */
  readonly private: string | null;
  readonly management: string | null;
  readonly isOperator: boolean;
};

export type OpenedByGroups = Omit<GroupRule, 'group'>;

/**
 * Returns what a person's groups give access to. If several rules match, the first rule with an application determines
 * the tenant, and that tenant's first matching rule determines each application. A session therefore never mixes
 * tenants.
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
