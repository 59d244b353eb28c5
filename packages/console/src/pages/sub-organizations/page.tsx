import { Empty } from '../../kit/empty.tsx';
import { Page } from '../../kit/page.tsx';

export function SubOrganizationsPage() {
  return (
    <Page title="Sub-organizations">
      <Empty title="No sub-organizations yet" icon="tree">
        Sub-organizations of this organization will be listed here.
      </Empty>
    </Page>
  );
}
