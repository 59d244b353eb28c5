import { useParams } from '@tanstack/react-router';
import { Hash } from '../../kit/hash.tsx';
import { Page } from '../../kit/page.tsx';

export function PolicyPage() {
  const { policyId } = useParams({ from: '/shell/policies/$policyId' });
  return (
    <Page title={policyId} parent={{ label: 'Policies', to: '/policies' }}>
      <Hash value={policyId} whole />
    </Page>
  );
}
