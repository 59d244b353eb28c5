import { Empty } from '../../kit/empty.tsx';
import { Page } from '../../kit/page.tsx';

export function PoliciesPage() {
  return (
    <Page title="Policies">
      <Empty title="No policies yet" icon="shield">
        Policies that allow and deny will be listed here.
      </Empty>
    </Page>
  );
}
