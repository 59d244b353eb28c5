import { useParams } from '@tanstack/react-router';
import { Hash } from '../../kit/hash.tsx';
import { Page } from '../../kit/page.tsx';

export function WebhookPage() {
  const { endpointId } = useParams({ from: '/shell/webhooks/$endpointId' });
  return (
    <Page title={endpointId} parent={{ label: 'Webhooks', to: '/webhooks' }}>
      <Hash value={endpointId} whole />
    </Page>
  );
}
