import type { ListWalletsResponse } from '@custos/sdk';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { problemOf } from '../../api/problem.ts';
import { useApiPages } from '../../api/use-api.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { Button } from '../../kit/button.tsx';
import { Empty } from '../../kit/empty.tsx';
import { ProblemNote } from '../../kit/problem-note.tsx';
import { Skeleton } from '../../kit/skeleton.tsx';
import type { Column } from '../../kit/table.tsx';
import { Tag } from '../../kit/tag.tsx';
import { Time } from '../../kit/time.tsx';
import { RowLink, VirtualTable } from '../../kit/virtual-table.tsx';
import styles from './wallets.module.css';

export type Wallet = ListWalletsResponse['wallets'][number];

const COLUMNS: readonly Column<Wallet>[] = [
  {
    id: 'name',
    header: 'Wallet',
    width: 'minmax(0, 2fr)',
    cell: ({ walletId, walletName }) => (
      <RowLink href={`/console/wallets/${walletId}`} className={styles.name}>
        <bdi>{walletName}</bdi>
      </RowLink>
    ),
  },
  {
    id: 'kind',
    header: 'Words',
    width: 'minmax(0, 2fr)',
    cell: ({ imported, exported }) => (
      <span className={styles.tags}>
        <Tag kind="soft">{imported ? 'imported' : 'made here'}</Tag>
        <Tag kind="soft">{exported ? 'exported' : 'never exported'}</Tag>
      </span>
    ),
  },
  {
    id: 'created',
    header: 'Created',
    width: '140px',
    align: 'right',
    cell: ({ createdAt }) => <Time inRow time={createdAt} />,
  },
];

export interface WalletListProps {
  readonly search: string;
  readonly onCreate: () => void;
  readonly onImport: () => void;
}

export function WalletList({ search, onCreate, onImport }: WalletListProps) {
  const { items, query, hasMore, loadMore } = useApiPages('listWallets', {}, ({ wallets }) => wallets);
  const navigate = useNavigate();
  const off = useOffReason();
  const wanted = search.trim().toLocaleLowerCase();
  const rows =
    wanted === '' ? items : items.filter(({ walletName }) => walletName.toLocaleLowerCase().includes(wanted));
  // A filter is about all of them, so the others are fetched.
  useEffect(() => {
    if (wanted !== '' && hasMore && !query.isFetchingNextPage) loadMore();
  }, [wanted, hasMore, query.isFetchingNextPage, loadMore]);

  if (query.isPending) return <Skeleton rows={8} />;
  return (
    <>
      {query.error && <ProblemNote problem={problemOf(query.error)} onRetry={() => void query.refetch()} />}
      <div className={styles.frame}>
        <VirtualTable
          label="Wallets"
          columns={COLUMNS}
          rows={rows}
          rowKey={({ walletId }) => walletId}
          rowLabel={({ walletName }) => walletName}
          onOpen={({ walletId }) => void navigate({ to: '/wallets/$walletId', params: { walletId } })}
          hasMore={hasMore}
          isLoadingMore={query.isFetchingNextPage}
          onMore={loadMore}
          empty={
            <div className={styles.padded}>
              {items.length > 0 ? (
                <Empty title="No wallet has such a name" icon="search">
                  Search with Ctrl K finds wallets by address and id too.
                </Empty>
              ) : (
                <Empty
                  title="No wallets yet"
                  icon="wallet"
                  call={`await client.createWallet({\n  walletName: 'Treasury',\n  accounts: [{ curve: 'CURVE_SECP256K1', pathFormat: 'PATH_FORMAT_BIP32', path: "m/44'/60'/0'/0/0", addressFormat: 'ADDRESS_FORMAT_ETHEREUM' }],\n})`}
                  actions={
                    <>
                      <Button icon="plus" off={off} onClick={onCreate}>
                        Create the first
                      </Button>
                      <Button icon="upload" off={off} hideReason onClick={onImport}>
                        Import one
                      </Button>
                    </>
                  }
                >
                  Wallets with their accounts and balances will be listed here. Create one for the chains that you use,
                  or import the words of another.
                </Empty>
              )}
            </div>
          }
        />
      </div>
    </>
  );
}
