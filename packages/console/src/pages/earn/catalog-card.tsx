import type { ListEarnVaultsResponse } from '@custos/sdk';
import { useState } from 'react';
import { useApi } from '../../api/use-api.ts';
import { Address } from '../../kit/address.tsx';
import { Asked } from '../../kit/asked.tsx';
import { Card } from '../../kit/card.tsx';
import { Empty } from '../../kit/empty.tsx';
import { SameWithLink } from '../../kit/same-with.tsx';
import { Select } from '../../kit/select.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Tag } from '../../kit/tag.tsx';
import { chainName } from '../../lib/chains.ts';
import styles from './earn.module.css';
import { percent, providerName } from './earn-model.ts';

type Vault = ListEarnVaultsResponse['vaults'][number];

const COLUMNS: readonly Column<Vault>[] = [
  {
    id: 'vault',
    header: 'Vault',
    cell: ({ name, provider, curator, vaultAddress, enabled }) => (
      <span className={styles.name}>
        <b>
          <bdi>{name}</bdi> {enabled && <Tag kind="soft">enabled</Tag>}
        </b>
        <span className={styles.detail}>
          {providerName(provider)}
          {curator !== '' && (
            <>
              , by <bdi>{curator}</bdi>
            </>
          )}
        </span>
        <Address address={vaultAddress} copy />
      </span>
    ),
  },
  { id: 'rate', header: 'A year', align: 'right', cell: ({ apyPct }) => percent(apyPct) },
  { id: 'size', header: 'Holds', align: 'right', cell: ({ display }) => display.crypto || 'not known' },
];

const SHOWN = '20';

/** The largest vaults of an asset that can be found on the configured chains. */
export function CatalogCard({ chains }: { readonly chains: readonly string[] }) {
  const [caip2, setCaip2] = useState(chains[0] ?? '');
  const [chosen, setChosen] = useState<string>();
  const assets = useApi('listSupportedAssets', { caip2 }, { enabled: caip2 !== '' });
  const tokens = (assets.data?.assets ?? []).filter(({ caip19 }) => caip19.includes('/erc20:'));
  const caip19 = tokens.find((token) => token.caip19 === chosen)?.caip19 ?? tokens[0]?.caip19;
  const parameters = { caip19: caip19 ?? '', paginationOptions: { limit: SHOWN } };
  const query = useApi('listEarnVaults', parameters, { enabled: caip19 !== undefined });
  return (
    <Card
      title="All vaults"
      detail="the largest first"
      flush
      footer={<SameWithLink method="listEarnVaults" parameters={parameters} />}
    >
      <div className={`${styles.bar} ${styles.padded}`}>
        <Select
          label="Chain"
          value={caip2}
          onChange={setCaip2}
          options={chains.map((chain) => ({ value: chain, label: chainName(chain) }))}
        />
        <Select
          label="Asset"
          value={caip19}
          onChange={setChosen}
          options={tokens.map((token) => ({ value: token.caip19, label: token.symbol, detail: token.name }))}
        />
      </div>
      {caip19 === undefined ? (
        <div className={styles.padded}>
          {assets.isPending ? '' : 'The operator has configured no token of this chain, so no vault can be looked up.'}
        </div>
      ) : (
        <Asked query={query} rows={3}>
          {({ vaults }) => (
            <Table
              label="All vaults"
              columns={COLUMNS}
              rows={vaults}
              rowKey={({ vaultAddress }) => vaultAddress}
              empty={
                <Empty title="No vault takes this asset" icon="search">
                  None was found among those that the operator lists. Finding vaults of factories can take several
                  minutes after a start.
                </Empty>
              }
            />
          )}
        </Asked>
      )}
    </Card>
  );
}
