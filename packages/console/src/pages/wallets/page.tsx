import { Empty } from '../../kit/empty.tsx';
import { Page } from '../../kit/page.tsx';

export function WalletsPage() {
  return (
    <Page title="Wallets">
      <Empty title="No wallets yet" icon="wallet">
        Wallets and their accounts will be listed here.
      </Empty>
    </Page>
  );
}
