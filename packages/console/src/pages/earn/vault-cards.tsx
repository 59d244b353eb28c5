import type { ListEarnEnabledVaultsResponse, ListEarnPositionsResponse } from '@custos/sdk';
import type { UseQueryResult } from '@tanstack/react-query';
import { useOffReason } from '../../app/off-reason.ts';
import { Address } from '../../kit/address.tsx';
import { Asked } from '../../kit/asked.tsx';
import { Button } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { Empty } from '../../kit/empty.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Tag } from '../../kit/tag.tsx';
import { chainName } from '../../lib/chains.ts';
import { AssetAmount } from './asset-amount.tsx';
import styles from './earn.module.css';
import { chainOf, type EnabledVault, feePercent, type Position, percent, providerName } from './earn-model.ts';

export interface EnabledCardProps {
  readonly query: UseQueryResult<ListEarnEnabledVaultsResponse, Error>;
  readonly onDeposit: ((vault: EnabledVault) => void) | undefined;
}

/** The vaults that this organization offers, with rates and fees. */
export function EnabledCard({ query, onDeposit }: EnabledCardProps) {
  const off = useOffReason();
  const columns: readonly Column<EnabledVault>[] = [
    {
      id: 'vault',
      header: 'Vault',
      cell: ({ name, provider, caip19, curator, vaultAddress }) => (
        <span className={styles.name}>
          <b>
            <bdi>{name}</bdi>
          </b>
          <span className={styles.detail}>
            {providerName(provider)} on {chainName(chainOf(caip19))}
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
    {
      id: 'rate',
      header: 'A year',
      align: 'right',
      cell: ({ netApyPct, apyPct }) => (
        <span className={styles.name}>
          <b>{percent(netApyPct)}</b>
          <span className={styles.detail}>{percent(apyPct)} before fees</span>
        </span>
      ),
    },
    {
      id: 'fee',
      header: 'Your fee',
      align: 'right',
      cell: ({ caip19, clientFeeBps, claimableClientFee, clientFeeWallet }) => (
        <span className={styles.name}>
          <span>{feePercent(clientFeeBps)} of the yield</span>
          {claimableClientFee !== undefined && (
            <span className={styles.detail}>
              <AssetAmount caip19={caip19} units={claimableClientFee} /> to claim
            </span>
          )}
          {clientFeeWallet !== undefined && (
            <span className={styles.detail}>
              to <Address address={clientFeeWallet} copy />
            </span>
          )}
        </span>
      ),
    },
    {
      id: 'deposited',
      header: 'Deposited',
      align: 'right',
      cell: ({ caip19, totalDeposited }) => <AssetAmount caip19={caip19} units={totalDeposited} />,
    },
    {
      id: 'liquidity',
      header: 'Can be withdrawn',
      align: 'right',
      cell: ({ caip19, liquidity }) => <AssetAmount caip19={caip19} units={liquidity} />,
    },
    {
      id: 'act',
      header: 'Deposit',
      hideHeader: true,
      align: 'right',
      narrow: 'keep',
      cell: (vault) => (
        <Button
          size="small"
          hideReason
          off={
            off ||
            (vault.depositsDisabled && 'Deposits are switched off.') ||
            (vault.deployStatus !== 'COMPLETED' && 'Its wrapper is not deployed yet.') ||
            (onDeposit === undefined && 'There is no account that could deposit.')
          }
          onClick={() => onDeposit?.(vault)}
        >
          Deposit
        </Button>
      ),
    },
  ];
  return (
    <Card title="Enabled vaults" flush>
      <Asked query={query}>
        {({ enabledVaults }) => (
          <Table
            label="Enabled vaults"
            columns={columns}
            rows={enabledVaults}
            rowKey={({ wrapperAddress }) => wrapperAddress}
            empty={
              <Empty
                title="No vault is enabled"
                icon="trend"
                call="await client.earnDeployWrapper({ chainCaip2, vaultAddress, clientFeeBps: '1000', clientFeeWallet })"
              >
                Vaults that this organization offers will be listed here. Enable one by deploying a fee wrapper around
                it.
              </Empty>
            }
          />
        )}
      </Asked>
    </Card>
  );
}

export interface PositionsCardProps {
  readonly query: UseQueryResult<ListEarnPositionsResponse, Error>;
  readonly vaults: readonly EnabledVault[];
  readonly onWithdraw: (position: Position) => void;
}

export function PositionsCard({ query, vaults, onWithdraw }: PositionsCardProps) {
  const off = useOffReason();
  const columns: readonly Column<Position>[] = [
    {
      id: 'vault',
      header: 'Position',
      cell: ({ wrapperAddress, provider, caip19, vaultAddress }) => (
        <span className={styles.name}>
          <b>
            <bdi>{vaults.find((vault) => vault.wrapperAddress === wrapperAddress)?.name ?? 'Vault'}</bdi>
          </b>
          <span className={styles.detail}>
            {providerName(provider)} on {chainName(chainOf(caip19))}
          </span>
          <Address address={vaultAddress} copy />
        </span>
      ),
    },
    {
      id: 'value',
      header: 'Worth now',
      align: 'right',
      cell: ({ caip19, currentValue }) => <AssetAmount strong caip19={caip19} units={currentValue} />,
    },
    {
      id: 'in',
      header: 'Deposited',
      align: 'right',
      cell: ({ caip19, totalDeposited }) => <AssetAmount caip19={caip19} units={totalDeposited} />,
    },
    {
      id: 'out',
      header: 'Withdrawn',
      align: 'right',
      cell: ({ caip19, totalWithdrawn }) => <AssetAmount caip19={caip19} units={totalWithdrawn} />,
    },
    {
      id: 'act',
      header: 'Withdraw',
      hideHeader: true,
      align: 'right',
      narrow: 'keep',
      cell: (position) => (
        <span className={styles.buttons}>
          {position.depositsDisabled && <Tag kind="soft">no deposits</Tag>}
          <Button size="small" off={off} hideReason onClick={() => onWithdraw(position)}>
            Withdraw
          </Button>
        </span>
      ),
    },
  ];
  return (
    <Card title="Positions" flush>
      {query.fetchStatus === 'idle' && query.data === undefined && query.error === null ? (
        <div className={styles.padded}>Choose an account to see its positions.</div>
      ) : (
        <Asked query={query} rows={2}>
          {({ positions }) => (
            <Table
              label="Positions"
              columns={columns}
              rows={positions}
              rowKey={({ wrapperAddress }) => wrapperAddress}
              empty={
                <Empty
                  title="No positions"
                  icon="trend"
                  call="await client.earnDeposit({ wrapperAddress, chainCaip2, signWith, assets: '100000000' })"
                >
                  What this account has deposited, and what it is worth, will be listed here. Deposit into an enabled
                  vault below.
                </Empty>
              }
            />
          )}
        </Asked>
      )}
    </Card>
  );
}
