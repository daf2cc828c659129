/** What members of one group of the identity provider may open (`console.oidc.groups`). */
export type GroupRule = {
  readonly group: string;
  /** The tenant of the applications; null for a group of operators only. */
  readonly tenantId: string | null;
  /** The ids of applications; null: none. */
  readonly private: string | null;
  readonly management: string | null;
  readonly isOperator: boolean;
};

export type OpenedByGroups = Omit<GroupRule, 'group'>;

/**
 * Returns what a person's groups open. Of several rules, the first one with an application decides on the tenant, and
 * the first one of that tenant on each application, so that a session never mixes tenants.
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
