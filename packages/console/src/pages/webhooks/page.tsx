import { Empty } from '../../kit/empty.tsx';
import { Page } from '../../kit/page.tsx';

export function WebhooksPage() {
  return (
    <Page title="Webhooks">
      <Empty title="No endpoints yet" icon="webhook">
        Endpoints and their deliveries will be listed here.
      </Empty>
    </Page>
  );
}
