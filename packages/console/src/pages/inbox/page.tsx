import { Empty } from '../../kit/empty.tsx';
import { Page } from '../../kit/page.tsx';

export function InboxPage() {
  return (
    <Page title="Inbox">
      <Empty title="Nothing waits for you" icon="inbox">
        Requests that need an approval appear here by themselves.
      </Empty>
    </Page>
  );
}
