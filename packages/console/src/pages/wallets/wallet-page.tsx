import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { placesOf, useChains } from '../../api/chains.ts';
import { problemOf } from '../../api/problem.ts';
import { useApi, useApiPages } from '../../api/use-api.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { Button, IconButton } from '../../kit/button.tsx';
import { Menu } from '../../kit/menu.tsx';
import { Note } from '../../kit/note.tsx';
import { Columns, Page } from '../../kit/page.tsx';
import { ProblemNote } from '../../kit/problem-note.tsx';
import { Skeleton } from '../../kit/skeleton.tsx';
import { Tag } from '../../kit/tag.tsx';
import { useNarrow } from '../../lib/use-media.ts';
import { AccountsCard } from './accounts-card.tsx';
import { AddAccountsDialog } from './add-accounts-dialog.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { ExportDialog } from './export-dialog.tsx';
import type { ExportSubject } from './export-model.ts';
import { useHeldExport } from './held-exports.ts';
import { RenameDialog } from './rename-dialog.tsx';
import { SendForm } from './send-form.tsx';
import { SendsCard } from './sends-card.tsx';
import { SignDialog } from './sign-dialog.tsx';

const PARENT = { label: 'Wallets', to: '/wallets' };
type Opened = 'add' | 'sign' | 'rename' | 'delete' | ExportSubject;

export function WalletPage() {
  const { walletId } = useParams({ from: '/shell/wallets/$walletId' });
  const query = useApi('getWallet', { walletId });
  const wallet = query.data?.wallet;
  if (wallet === undefined) {
    return (
      <Page title="Wallet" parent={PARENT}>
        {query.error ? (
          <ProblemNote problem={problemOf(query.error)} onRetry={() => void query.refetch()} />
        ) : (
          <Skeleton shape="cards" rows={3} />
        )}
      </Page>
    );
  }
  return <WalletView key={walletId} wallet={wallet} />;
}

interface WalletViewProps {
  readonly wallet: {
    readonly walletId: string;
    readonly walletName: string;
    readonly imported: boolean;
    readonly exported: boolean;
  };
}

function WalletView({ wallet }: WalletViewProps) {
  const { walletId, walletName, imported, exported } = wallet;
  const accounts = useApiPages('listWalletAccounts', { walletId }, (answer) => answer.accounts);
  const chains = useChains();
  const places = placesOf(accounts.items, chains.data?.chains ?? []);
  const [chosen, setChosen] = useState<string>();
  const [isSending, setIsSending] = useState<boolean>();
  const [opened, setOpened] = useState<Opened>();
  const held = useHeldExport(walletId);
  const navigate = useNavigate();
  const off = useOffReason();
  const isNarrow = useNarrow();
  const sendable = places.filter(({ chain }) => chain !== undefined);
  const current = sendable.find(({ key }) => key === chosen) ?? sendable[0];
  const close = (): void => setOpened(undefined);
  const exportSubject: ExportSubject = {
    kind: 'wallet',
    id: walletId,
    name: walletName,
    ...(!accounts.hasMore && { accountCount: accounts.items.length }),
  };
  const showsSend = isSending ?? (!isNarrow && current !== undefined);
  const noSend = current === undefined && !chains.isPending ? 'No chain of its accounts is configured.' : undefined;
  return (
    <Page
      title={<bdi>{walletName}</bdi>}
      parent={PARENT}
      marks={
        // On phones the name needs the room.
        !isNarrow && (
          <>
            <Tag kind="soft">{imported ? 'words imported' : 'words made here'}</Tag>
            <Tag kind="soft">{exported ? 'exported' : 'never exported'}</Tag>
          </>
        )
      }
      actions={
        <>
          {!isNarrow && (
            <>
              <Button onClick={() => setOpened('sign')} off={off} hideReason>
                Sign a message
              </Button>
              <Button onClick={() => setOpened(exportSubject)} off={off} hideReason>
                Export
              </Button>
            </>
          )}
          <Button
            kind={showsSend ? 'outline' : 'ink'}
            icon="send"
            off={off ?? noSend}
            hideReason
            onClick={() => {
              setIsSending(true);
              // The form may come into being only now.
              requestAnimationFrame(() => document.getElementById('send-to')?.focus());
            }}
          >
            Send
          </Button>
          <Menu
            trigger={<IconButton icon="more" label="More" />}
            items={[
              ...(isNarrow
                ? [
                    {
                      id: 'sign',
                      label: 'Sign a message',
                      icon: 'edit' as const,
                      off,
                      onSelect: () => setOpened('sign'),
                    },
                    {
                      id: 'export',
                      label: 'Export',
                      icon: 'download' as const,
                      off,
                      onSelect: () => setOpened(exportSubject),
                    },
                  ]
                : []),
              { id: 'rename', label: 'Rename', icon: 'edit', off, onSelect: () => setOpened('rename') },
              {
                id: 'delete',
                label: 'Delete wallet',
                icon: 'trash',
                danger: true,
                separated: true,
                off,
                onSelect: () => setOpened('delete'),
              },
            ]}
          />
        </>
      }
    >
      <Columns
        rail={
          showsSend && current !== undefined ? (
            <SendForm
              walletId={walletId}
              places={sendable}
              place={current}
              onPlace={setChosen}
              onClose={() => setIsSending(false)}
            />
          ) : (
            noSend !== undefined && (
              <Note tone="info" title="Nothing can be sent from here yet.">
                No node is configured for a chain of these accounts. The operator adds chains to the setting{' '}
                <code>CUSTOS_CHAINS</code>; signing works without.
              </Note>
            )
          )
        }
      >
        {held !== undefined && (
          <Note
            tone="wait"
            icon="clock"
            title="An export of this wallet waits. Keep this tab open."
            actions={
              <Button size="small" onClick={() => setOpened(exportSubject)}>
                Open it
              </Button>
            }
          >
            The key that opens it is in the memory of this tab alone.
          </Note>
        )}
        <AccountsCard
          accounts={accounts}
          places={places}
          chosenKey={showsSend ? current?.key : undefined}
          onChoose={(key) => {
            setChosen(key);
            setIsSending(true);
          }}
          onAdd={() => setOpened('add')}
          onExport={setOpened}
        />
        {current !== undefined && (
          <SendsCard
            account={current.account}
            all={
              <Link to="/sends" search={{}}>
                All sends
              </Link>
            }
          />
        )}
      </Columns>
      {opened === 'add' && <AddAccountsDialog walletId={walletId} accounts={accounts.items} onClose={close} />}
      {opened === 'sign' && <SignDialog accounts={accounts.items} onClose={close} />}
      {opened === 'rename' && <RenameDialog walletId={walletId} walletName={walletName} onClose={close} />}
      {opened === 'delete' && (
        <DeleteDialog
          subject={{ kind: 'wallet', id: walletId, name: walletName, isExported: exported }}
          onClose={close}
          onDone={() => void navigate({ to: '/wallets' })}
        />
      )}
      {typeof opened === 'object' && <ExportDialog subject={opened} onClose={close} />}
    </Page>
  );
}
