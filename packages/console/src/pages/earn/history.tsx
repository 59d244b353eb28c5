import { problemOf } from '../../api/problem.ts';
import { useApi } from '../../api/use-api.ts';
import { Card } from '../../kit/card.tsx';
import { Hash } from '../../kit/hash.tsx';
import { Note } from '../../kit/note.tsx';
import { Plot } from '../../kit/plot.tsx';
import { ProblemNote } from '../../kit/problem-note.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { formatUnits } from '../../lib/amounts.ts';
import { day } from '../../lib/time.ts';
import styles from './earn.module.css';
import {
  byPosition,
  chainOf,
  type EnabledVault,
  gainOf,
  type HistoryPoint,
  nowOf,
  principalOverTime,
} from './earn-model.ts';

export interface HistoryProps {
  readonly address: string;
  readonly vaults: readonly EnabledVault[];
}

/** The positions of an account over time: what went in and out, and what became of it. */
export function History({ address, vaults }: HistoryProps) {
  const query = useApi('listEarnPositionHistory', { walletAddress: address });
  if (query.error) return <ProblemNote problem={problemOf(query.error)} onRetry={() => void query.refetch()} />;
  return (
    <>
      {query.data?.isPartial && (
        <Note tone="info" title="Only the newest deposits and withdrawals are shown.">
          There are older ones, so what is in a position cannot be told here.
        </Note>
      )}
      {byPosition(query.data?.points ?? []).map((points) => (
        <PositionOverTime
          key={points[0]?.wrapperAddress}
          points={points}
          name={vaults.find((vault) => isSameAddress(vault.wrapperAddress, points[0]?.wrapperAddress))?.name}
        />
      ))}
    </>
  );
}

const isSameAddress = (one: string, other: string | undefined): boolean => one.toLowerCase() === other?.toLowerCase();

interface PositionOverTimeProps {
  readonly points: readonly HistoryPoint[];
  readonly name: string | undefined;
}

const NEWEST = 10;

function PositionOverTime({ points, name = 'Vault' }: PositionOverTimeProps) {
  const caip19 = points[0]?.caip19 ?? '';
  const { data } = useApi('listSupportedAssets', { caip2: chainOf(caip19) });
  const asset = data?.assets.find((one) => one.caip19.toLowerCase() === caip19.toLowerCase());
  if (asset === undefined) return null;
  const { decimals, symbol } = asset;
  const amount = (units: string | bigint): string => `${formatUnits(BigInt(units), decimals)} ${symbol}`;
  const now = nowOf(points);
  const gain = gainOf(now);
  const { times, values } = principalOverTime(points);
  const movements = points.filter(({ kind }) => kind !== 'NOW').reverse();
  const columns: readonly Column<HistoryPoint>[] = [
    { id: 'kind', header: 'What', cell: ({ kind }) => (kind === 'DEPOSIT' ? 'Deposit' : 'Withdrawal') },
    {
      id: 'amount',
      header: 'Amount',
      align: 'right',
      cell: (point) => (point.amount === undefined ? 'all of it' : amount(point.amount)),
    },
    {
      id: 'transaction',
      header: 'Transaction',
      align: 'right',
      cell: ({ txHash }) => (txHash === undefined ? 'not known' : <Hash value={txHash} what="transaction hash" />),
    },
    { id: 'at', header: 'Time', align: 'right', cell: ({ at }) => <Time inRow time={at} /> },
  ];
  return (
    <Card
      flush
      title={
        <>
          <bdi>{name}</bdi> over time
        </>
      }
      {...(movements.length > NEWEST && { detail: `the newest ${NEWEST} of ${movements.length} movements` })}
    >
      {times.length > 0 && (
        <div className={styles.padded}>
          <Plot
            title="Put in and not taken out"
            value={now?.principal === undefined ? 'not known' : amount(now.principal)}
            unit={
              now?.assets === undefined
                ? 'and its worth is not known now'
                : `worth ${amount(now.assets)} now${gain === undefined ? '' : gain < 0n ? `, ${amount(-gain)} lost` : `, ${amount(gain)} gained`}`
            }
            times={times}
            lines={[
              {
                name: symbol,
                values: values.map((one) => (one === undefined ? undefined : Number(one) / 10 ** decimals)),
              },
            ]}
            formatValue={(value) => value.toLocaleString('en', { maximumFractionDigits: 2 })}
            formatTime={(time) => day(time)}
          />
        </div>
      )}
      <Table
        label={`Deposits and withdrawals, ${name}`}
        columns={columns}
        rows={movements.slice(0, NEWEST)}
        rowKey={({ at, kind, txHash }) => `${at} ${kind} ${txHash ?? ''}`}
      />
    </Card>
  );
}
