import { useState } from 'react';
import { useChains } from '../../api/chains.ts';
import { problemOf } from '../../api/problem.ts';
import { useApi, useApiPages } from '../../api/use-api.ts';
import { Card } from '../../kit/card.tsx';
import { Empty } from '../../kit/empty.tsx';
import { Note } from '../../kit/note.tsx';
import { Page, Stack } from '../../kit/page.tsx';
import { ProblemNote } from '../../kit/problem-note.tsx';
import { Select } from '../../kit/select.tsx';
import { Skeleton } from '../../kit/skeleton.tsx';
import { shortAddress } from '../../lib/addresses.ts';
import { CatalogCard } from './catalog-card.tsx';
import styles from './earn.module.css';
import { type EarnAct, EarnDialog } from './earn-dialog.tsx';
import type { EnabledVault } from './earn-model.ts';
import { History } from './history.tsx';
import { EnabledCard, PositionsCard } from './vault-cards.tsx';

export function EarnPage() {
  const chains = useChains();
  const withVaults = (chains.data?.chains ?? []).filter(({ hasVaults }) => hasVaults);
  const isOff = chains.data !== undefined && withVaults.length === 0;
  return (
    <Page title="Earn">
      {chains.error && <ProblemNote problem={problemOf(chains.error)} onRetry={() => void chains.refetch()} />}
      {chains.isPending && <Skeleton shape="cards" rows={2} />}
      {isOff && (
        <Card>
          <Empty title="Earn is not configured" icon="trend" call="await client.listEarnVaults({ caip19 })">
            Vaults, positions and fees will be shown here. The operator names where vaults come from for a chain in{' '}
            <code>CUSTOS_CHAINS</code>: <code>aavePoolAddressesProvider</code>, <code>morphoFactories</code> or{' '}
            <code>vaults</code>.
          </Empty>
        </Card>
      )}
      {withVaults.length > 0 && <Earn chains={withVaults.map(({ caip2 }) => caip2)} />}
    </Page>
  );
}

function Earn({ chains }: { readonly chains: readonly string[] }) {
  const accounts = useApiPages('listWalletAccounts', { includeWalletDetails: true }, (answer) => answer.accounts);
  const own = accounts.items.filter(({ addressFormat }) => addressFormat === 'ADDRESS_FORMAT_ETHEREUM');
  const [chosen, setChosen] = useState<string>();
  const address = chosen ?? own[0]?.address;
  const enabled = useApi('listEarnEnabledVaults');
  const positions = useApi(
    'listEarnPositions',
    { walletAddress: address ?? '' },
    { enabled: address !== undefined, everyMs: 30_000 },
  );
  const [act, setAct] = useState<EarnAct>();
  const vaults: readonly EnabledVault[] = enabled.data?.enabledVaults ?? [];
  return (
    <Stack>
      {own.length > 0 && (
        <div className={styles.bar}>
          <div className={styles.account}>
            <Select
              label="Account"
              value={address}
              onChange={setChosen}
              options={own.map((account) => ({
                value: account.address,
                label: `${account.walletDetails?.walletName ?? 'Wallet'}: ${account.name ?? shortAddress(account.address)}`,
                detail: shortAddress(account.address),
              }))}
            />
          </div>
        </div>
      )}
      {!accounts.query.isPending && own.length === 0 && (
        <Note tone="info" title="There is no account that could deposit.">
          Earn works with accounts of EVM chains: create a wallet with “Ethereum and EVM” first.
        </Note>
      )}
      <PositionsCard
        query={positions}
        vaults={vaults}
        onWithdraw={(position) => address && setAct({ kind: 'withdraw', position, address })}
      />
      {address !== undefined && <History address={address} vaults={vaults} />}
      <EnabledCard
        query={enabled}
        onDeposit={address === undefined ? undefined : (vault) => setAct({ kind: 'deposit', vault, address })}
      />
      <CatalogCard chains={chains} />
      {act && <EarnDialog act={act} onClose={() => setAct(undefined)} />}
    </Stack>
  );
}
