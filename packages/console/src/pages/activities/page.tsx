import { Empty } from '../../kit/empty.tsx';
import { Page } from '../../kit/page.tsx';

export function ActivitiesPage() {
  return (
    <Page title="Activities">
      <Empty title="No activities yet" icon="activity">
        Everything that was asked of the service will be listed here.
      </Empty>
    </Page>
  );
}
