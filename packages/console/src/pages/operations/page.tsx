import { Empty } from '../../kit/empty.tsx';
import { Page } from '../../kit/page.tsx';

export function OperationsPage() {
  return (
    <Page title="Operations">
      <Empty title="Nothing measured yet" icon="bars">
        Health, queues and rates of the service will be shown here.
      </Empty>
    </Page>
  );
}
