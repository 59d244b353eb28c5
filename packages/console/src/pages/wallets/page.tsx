import { useState } from 'react';
import { useOffReason } from '../../app/off-reason.ts';
import { Button, IconButton } from '../../kit/button.tsx';
import { SearchField } from '../../kit/field.tsx';
import { Menu } from '../../kit/menu.tsx';
import { Page } from '../../kit/page.tsx';
import { Segmented } from '../../kit/segmented.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { CreateWalletDialog } from './create-wallet-dialog.tsx';
import { ImportDialog } from './import-dialog.tsx';
import { KeyList } from './key-list.tsx';
import { WalletList } from './wallet-list.tsx';
import styles from './wallets.module.css';

type Opened = 'create-wallet' | 'create-key' | 'import';

export function WalletsPage() {
  const [shown, setShown] = useState<'wallets' | 'keys'>(() =>
    new URLSearchParams(location.search).has('privateKey') ? 'keys' : 'wallets',
  );
  const [search, setSearch] = useState('');
  const [opened, setOpened] = useState<Opened>();
  const off = useOffReason();
  const close = (): void => setOpened(undefined);
  return (
    <Page
      title="Wallets"
      fill
      actions={
        <>
          <Menu
            trigger={<IconButton icon="more" label="More" />}
            items={[
              {
                id: 'import',
                label: 'Import words or a key',
                icon: 'upload',
                off,
                onSelect: () => setOpened('import'),
              },
              { id: 'key', label: 'Create a private key', icon: 'key', off, onSelect: () => setOpened('create-key') },
            ]}
          />
          <Button kind="ink" icon="plus" off={off} hideReason onClick={() => setOpened('create-wallet')}>
            Create wallet
          </Button>
        </>
      }
    >
      <div className={styles.fill}>
        <div className={styles.bar}>
          <Segmented
            label="Kind"
            items={[
              { id: 'wallets', label: 'Wallets' },
              { id: 'keys', label: 'Private keys' },
            ]}
            value={shown}
            onChange={setShown}
          />
          <div className={styles.search}>
            <SearchField label="Filter by name" placeholder="Filter by name" value={search} onChange={setSearch} />
          </div>
        </div>
        {shown === 'wallets' ? (
          <WalletList
            search={search}
            onCreate={() => setOpened('create-wallet')}
            onImport={() => setOpened('import')}
          />
        ) : (
          <KeyList search={search} onCreate={() => setOpened('create-key')} />
        )}
      </div>
      {opened === 'create-wallet' && <CreateWalletDialog onClose={close} />}
      {opened === 'create-key' && <CreateKeyDialog onClose={close} />}
      {opened === 'import' && <ImportDialog onClose={close} />}
    </Page>
  );
}
