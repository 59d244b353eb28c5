import type { ListPrivateKeysResponse } from '@custos/sdk';
import { useEffect, useState } from 'react';
import { problemOf } from '../../api/problem.ts';
import { useApiPages } from '../../api/use-api.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { Address } from '../../kit/address.tsx';
import { Button, IconButton } from '../../kit/button.tsx';
import { Empty } from '../../kit/empty.tsx';
import { Hash } from '../../kit/hash.tsx';
import { Menu } from '../../kit/menu.tsx';
import { ProblemNote } from '../../kit/problem-note.tsx';
import { Skeleton } from '../../kit/skeleton.tsx';
import type { Column } from '../../kit/table.tsx';
import { Tag } from '../../kit/tag.tsx';
import { VirtualTable } from '../../kit/virtual-table.tsx';
import { formatName } from '../../lib/chains.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { ExportDialog } from './export-dialog.tsx';
import styles from './wallets.module.css';

type Key = ListPrivateKeysResponse['privateKeys'][number];

const CURVE_NAMES: Readonly<Record<string, string>> = {
  CURVE_SECP256K1: 'secp256k1',
  CURVE_ED25519: 'Ed25519',
  CURVE_P256: 'P-256',
};

export function KeyList({ search, onCreate }: { readonly search: string; readonly onCreate: () => void }) {
  const { items, query, hasMore, loadMore } = useApiPages('listPrivateKeys', {}, ({ privateKeys }) => privateKeys);
  const [opened, setOpened] = useState<{ readonly act: 'export' | 'delete'; readonly key: Key }>();
  const off = useOffReason();
  const wanted = search.trim().toLocaleLowerCase();
  const rows =
    wanted === '' ? items : items.filter(({ privateKeyName }) => privateKeyName.toLocaleLowerCase().includes(wanted));
  useEffect(() => {
    if (wanted !== '' && hasMore && !query.isFetchingNextPage) loadMore();
  }, [wanted, hasMore, query.isFetchingNextPage, loadMore]);
  const columns: readonly Column<Key>[] = [
    {
      id: 'name',
      header: 'Private key',
      width: 'minmax(0, 1.5fr)',
      cell: ({ privateKeyName }) => (
        <b className={styles.name}>
          <bdi>{privateKeyName}</bdi>
        </b>
      ),
    },
    { id: 'curve', header: 'Curve', width: '96px', cell: ({ curve }) => CURVE_NAMES[curve] ?? curve },
    {
      id: 'addresses',
      header: 'Addresses',
      width: 'minmax(0, 2fr)',
      cell: ({ addresses, publicKey }) =>
        addresses.length === 0 ? (
          <Hash value={publicKey} what="public key" />
        ) : (
          addresses.map(({ format, address }) => (
            <div key={format}>
              {formatName(format)} <Address address={address} copy />
            </div>
          ))
        ),
    },
    {
      id: 'kind',
      header: 'Kept',
      width: 'minmax(0, 1fr)',
      cell: ({ imported, exported }) => (
        <span className={styles.tags}>
          <Tag kind="soft">{imported ? 'imported' : 'made here'}</Tag>
          {exported && <Tag kind="soft">exported</Tag>}
        </span>
      ),
    },
    {
      id: 'more',
      header: 'More',
      hideHeader: true,
      width: '44px',
      align: 'right',
      narrow: 'keep',
      cell: (key) => (
        <Menu
          trigger={<IconButton icon="more" label={`More about ${key.privateKeyName}`} />}
          items={[
            { id: 'export', label: 'Export', icon: 'download', off, onSelect: () => setOpened({ act: 'export', key }) },
            {
              id: 'delete',
              label: 'Delete the key',
              icon: 'trash',
              danger: true,
              separated: true,
              off,
              onSelect: () => setOpened({ act: 'delete', key }),
            },
          ]}
        />
      ),
    },
  ];
  if (query.isPending) return <Skeleton rows={8} />;
  return (
    <>
      {query.error && <ProblemNote problem={problemOf(query.error)} onRetry={() => void query.refetch()} />}
      <div className={styles.frame}>
        <VirtualTable
          label="Private keys"
          columns={columns}
          rows={rows}
          rowKey={({ privateKeyId }) => privateKeyId}
          rowLabel={({ privateKeyName }) => privateKeyName}
          selectedKey={new URLSearchParams(location.search).get('privateKey') ?? undefined}
          hasMore={hasMore}
          isLoadingMore={query.isFetchingNextPage}
          onMore={loadMore}
          empty={
            <div className={styles.padded}>
              {items.length > 0 ? (
                <Empty title="No key has such a name" icon="search">
                  Search with Ctrl K finds keys by address and id too.
                </Empty>
              ) : (
                <Empty
                  title="No private keys yet"
                  icon="key"
                  call={`await client.createPrivateKeys({\n  privateKeys: [{ privateKeyName: 'Signer', curve: 'CURVE_SECP256K1', privateKeyTags: [], addressFormats: ['ADDRESS_FORMAT_ETHEREUM'] }],\n})`}
                  actions={
                    <Button icon="plus" off={off} onClick={onCreate}>
                      Create a private key
                    </Button>
                  }
                >
                  Single keys, made here or imported, will be listed here. Accounts of wallets are on the wallets’
                  pages.
                </Empty>
              )}
            </div>
          }
        />
      </div>
      {opened?.act === 'export' && (
        <ExportDialog
          subject={{
            kind: 'key',
            id: opened.key.privateKeyId,
            name: opened.key.privateKeyName,
            curve: opened.key.curve,
            publicKey: opened.key.publicKey,
          }}
          onClose={() => setOpened(undefined)}
        />
      )}
      {opened?.act === 'delete' && (
        <DeleteDialog
          subject={{
            kind: 'key',
            id: opened.key.privateKeyId,
            name: opened.key.privateKeyName,
            isExported: opened.key.exported,
          }}
          onClose={() => setOpened(undefined)}
          onDone={() => setOpened(undefined)}
        />
      )}
    </>
  );
}
