import { Empty } from '../../kit/empty.tsx';
import { Page } from '../../kit/page.tsx';

export function EarnPage() {
  return (
    <Page title="Earn">
      <Empty title="No positions yet" icon="trend">
        Vaults and positions will be listed here.
      </Empty>
    </Page>
  );
}
