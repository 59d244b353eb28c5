export const POLICY_TABS = ['policies', 'limits', 'mfa', 'sessions', 'network'] as const;
export type PolicyTab = (typeof POLICY_TABS)[number];

/** The tab in the address; another value is none. */
export function readPolicySearch({ tab }: Record<string, unknown>): { tab?: PolicyTab } {
  const found = POLICY_TABS.find((one) => one === tab);
  return found === undefined ? {} : { tab: found };
}
