import { useState } from 'react';
import type { Account, Place } from '../../api/chains.ts';
import { problemOf } from '../../api/problem.ts';
import { type Paged, useApi } from '../../api/use-api.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { Address } from '../../kit/address.tsx';
import { Amount } from '../../kit/amount.tsx';
import { Button, IconButton } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { ChainMark } from '../../kit/chain-mark.tsx';
import { CopyButton } from '../../kit/copy-button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Empty } from '../../kit/empty.tsx';
import { LinkButton } from '../../kit/link-button.tsx';
import { Menu } from '../../kit/menu.tsx';
import { ProblemNote } from '../../kit/problem-note.tsx';
import { Qr } from '../../kit/qr.tsx';
import { Skeleton } from '../../kit/skeleton.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { chainName, familyOf, formatName } from '../../lib/chains.ts';
import styles from './accounts-card.module.css';
import type { ExportSubject } from './export-model.ts';

export interface AccountsCardProps {
  readonly accounts: Paged<Account>;
  readonly places: readonly Place[];
  readonly chosenKey: string | undefined;
  readonly onChoose: (key: string) => void;
  readonly onAdd: () => void;
  readonly onExport: (subject: ExportSubject) => void;
}

/** What people call an account: its name, or what it is. */
export const accountName = ({ name, addressFormat }: Pick<Account, 'name' | 'addressFormat'>): string =>
  name ?? `${formatName(addressFormat)} account`;

const where = ({ account, chain }: Place): string =>
  chain === undefined ? formatName(account.addressFormat) : chainName(chain.caip2);

export function AccountsCard({ accounts, places, chosenKey, onChoose, onAdd, onExport }: AccountsCardProps) {
  const [shown, setShown] = useState<Place>();
  const off = useOffReason();
  const columns: readonly Column<Place>[] = [
    {
      id: 'account',
      header: 'Account',
      cell: (place) => (
        <div className={styles.account}>
          <ChainMark mark={familyOf(place.account.addressFormat).mark} />
          <div className={styles.text}>
            <b className={styles.name}>
              <bdi>{accountName(place.account)}</bdi>
            </b>
            <span className={styles.detail}>
              {where(place)} · {place.account.path}
            </span>
          </div>
        </div>
      ),
    },
    {
      id: 'address',
      header: 'Address',
      cell: (place) => (
        <span className={styles.address}>
          <Address address={place.account.address} copy />
          <IconButton
            icon="qr"
            label={`QR code of ${accountName(place.account)} on ${where(place)}`}
            onClick={() => setShown(place)}
          />
        </span>
      ),
    },
    {
      id: 'balance',
      header: 'Balance',
      align: 'right',
      cell: (place) => <Balance place={place} />,
    },
    {
      id: 'more',
      header: 'More',
      hideHeader: true,
      width: '36px',
      align: 'right',
      narrow: 'keep',
      cell: ({ account }) => (
        <Menu
          trigger={<IconButton icon="more" label={`More about ${accountName(account)}`} />}
          items={[
            {
              id: 'export',
              label: 'Export its private key',
              icon: 'download',
              off,
              onSelect: () =>
                onExport({
                  kind: 'account',
                  id: account.address,
                  name: accountName(account),
                  curve: account.curve,
                  addressFormat: account.addressFormat,
                  publicKey: account.publicKey,
                }),
            },
          ]}
        />
      ),
    },
  ];
  const { query, items, hasMore, loadMore } = accounts;
  return (
    <Card
      title="Accounts"
      detail={hasMore ? `the first ${items.length}` : items.length}
      flush
      actions={
        <Button icon="plus" size="small" off={off} hideReason onClick={onAdd}>
          Add accounts
        </Button>
      }
    >
      {query.isPending ? (
        <Skeleton rows={3} />
      ) : (
        <>
          {query.error && <ProblemNote problem={problemOf(query.error)} onRetry={() => void query.refetch()} />}
          <Table
            label="Accounts"
            columns={columns}
            rows={places}
            rowKey={({ key }) => key}
            selectedKey={chosenKey}
            onOpen={({ key, chain }) => {
              if (chain !== undefined) onChoose(key);
            }}
            empty={
              <Empty
                title="No accounts yet"
                icon="key"
                call="await client.createWalletAccounts({ walletId, accounts: [ … ] })"
                actions={
                  <Button icon="plus" off={off} onClick={onAdd}>
                    Add the first
                  </Button>
                }
              >
                Accounts are keys made of the wallet’s words: one for each chain and path.
              </Empty>
            }
          />
          {hasMore && (
            <div className={styles.more}>
              <LinkButton onClick={loadMore}>
                {query.isFetchingNextPage ? 'Loading more…' : 'Load more accounts'}
              </LinkButton>
            </div>
          )}
        </>
      )}
      {shown && (
        <Dialog
          open
          onClose={() => setShown(undefined)}
          width="small"
          title={
            <>
              <bdi>{accountName(shown.account)}</bdi> on {where(shown)}
            </>
          }
          description="The code holds the address and nothing else. Compare what the other device shows with the text below."
        >
          <div className={styles.qr}>
            <Qr text={shown.account.address} label={`QR code of the address ${shown.account.address}`} size={220} />
            <Address address={shown.account.address} shape="decision" />
            <CopyButton text={shown.account.address} label="Copy the address" word="Copy the address" />
          </div>
        </Dialog>
      )}
    </Card>
  );
}

const TOKENS_SHOWN = 2;

function Balance({ place: { account, chain } }: { readonly place: Place }) {
  const query = useApi(
    'getWalletAddressBalances',
    { address: account.address, caip2: chain?.caip2 ?? '' },
    { enabled: chain !== undefined, everyMs: 30_000 },
  );
  if (chain === undefined) {
    const { name, mark } = familyOf(account.addressFormat);
    return (
      <div className={styles.unread}>
        <span>not read</span>
        <span className={styles.detail}>{mark === 'KEY' ? 'a public key, no chain' : `no ${name} node is set`}</span>
      </div>
    );
  }
  if (query.data === undefined) {
    return (
      <div className={styles.unread}>
        <span>{query.error ? 'not read' : ''}</span>
        {query.error && <span className={styles.detail}>no node of the chain answers</span>}
      </div>
    );
  }
  const { balances } = query.data;
  const native = balances.find(({ caip19 }) => caip19 === chain.nativeAsset.caip19);
  const tokens = balances.filter(({ caip19 }) => caip19 !== chain.nativeAsset.caip19);
  return (
    <div className={styles.balance}>
      <Amount
        value={native?.balance ?? '0'}
        decimals={chain.nativeAsset.decimals}
        unit={chain.nativeAsset.symbol}
        strong
      />
      {tokens.slice(0, TOKENS_SHOWN).map(({ caip19, balance, decimals, symbol }) => (
        <span key={caip19} className={styles.detail}>
          <Amount value={balance} decimals={decimals} unit={symbol} />
        </span>
      ))}
      {tokens.length === 0 && <span className={styles.detail}>no configured tokens</span>}
      {tokens.length > TOKENS_SHOWN && <span className={styles.detail}>and {tokens.length - TOKENS_SHOWN} more</span>}
    </div>
  );
}
