import { useNavigate, useSearch } from '@tanstack/react-router';
import { useOffReason } from '../../app/off-reason.ts';
import { Button } from '../../kit/button.tsx';
import { Page } from '../../kit/page.tsx';
import { Tabs } from '../../kit/tabs.tsx';
import { IpAllowlist } from './limits/ip-allowlist.tsx';
import { MfaPolicies } from './limits/mfa-policies.tsx';
import { SessionProfiles } from './limits/session-profiles.tsx';
import { VelocityControls } from './limits/velocity-controls.tsx';
import { PolicyList } from './policy-list.tsx';
import { POLICY_TABS, type PolicyTab } from './tabs.ts';

const LABELS: Readonly<Record<PolicyTab, string>> = {
  policies: 'Policies',
  limits: 'Velocity controls',
  mfa: 'MFA policies',
  sessions: 'Session profiles',
  network: 'IP allowlist',
};

/** The rules of the organization: what is allowed, how often, after which proofs, for which sessions, from where. */
export function PoliciesPage() {
  const { tab = 'policies' } = useSearch({ from: '/shell/policies' });
  const navigate = useNavigate();
  const off = useOffReason();
  const create = (): void => void navigate({ to: '/policies/$policyId', params: { policyId: 'new' } });
  return (
    <Page
      title="Policies"
      actions={
        <Button kind="ink" icon="plus" off={off} hideReason onClick={create}>
          New policy
        </Button>
      }
    >
      <Tabs
        label="Rules"
        items={POLICY_TABS.map((id) => ({ id, label: LABELS[id] }))}
        value={tab}
        onChange={(next) => void navigate({ to: '/policies', search: { tab: next }, replace: true })}
      >
        {tab === 'policies' && <PolicyList onCreate={create} />}
        {tab === 'limits' && <VelocityControls />}
        {tab === 'mfa' && <MfaPolicies />}
        {tab === 'sessions' && <SessionProfiles />}
        {tab === 'network' && <IpAllowlist />}
      </Tabs>
    </Page>
  );
}
