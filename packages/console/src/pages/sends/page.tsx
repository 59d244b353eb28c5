import { Empty } from '../../kit/empty.tsx';
import { Page } from '../../kit/page.tsx';

export function SendsPage() {
  return (
    <Page title="Sends">
      <Empty title="Nothing was sent yet" icon="send">
        Transactions that the service sends will be listed here.
      </Empty>
    </Page>
  );
}
