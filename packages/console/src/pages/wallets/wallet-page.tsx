import { useParams } from '@tanstack/react-router';
import { Hash } from '../../kit/hash.tsx';
import { Page } from '../../kit/page.tsx';

export function WalletPage() {
  const { walletId } = useParams({ from: '/shell/wallets/$walletId' });
  return (
    <Page title={walletId} parent={{ label: 'Wallets', to: '/wallets' }}>
      <Hash value={walletId} whole />
    </Page>
  );
}
