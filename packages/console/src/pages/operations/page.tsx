import { useState } from 'react';
import { useNow } from '../../app/now.ts';
import { Asked } from '../../kit/asked.tsx';
import { Card } from '../../kit/card.tsx';
import { ChainMark } from '../../kit/chain-mark.tsx';
import { Empty } from '../../kit/empty.tsx';
import { Fact, Facts } from '../../kit/facts.tsx';
import { Icon } from '../../kit/icon.tsx';
import { Note } from '../../kit/note.tsx';
import { Columns, Page, Stack } from '../../kit/page.tsx';
import { StatusMark } from '../../kit/status-mark.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { count, formatBytes, withThousands } from '../../lib/amounts.ts';
import { chainName } from '../../lib/chains.ts';
import { cx } from '../../lib/cx.ts';
import { clockMinutes, day, duration, relative } from '../../lib/time.ts';
import { useNarrow } from '../../lib/use-media.ts';
import styles from './operations.module.css';
import { Plots } from './plots.tsx';
import type { Reading } from './rates.ts';
import { useReadings } from './use-readings.ts';

type Chain = Reading['chains'][number];
const away = ({ nodes }: Chain): number => nodes.filter(({ answers }) => !answers).length;

export function OperationsPage() {
  const { query, points } = useReadings();
  const isNarrow = useNarrow();
  const [openedMs] = useState(() => Date.now());
  return (
    <Page
      title="Operations"
      {...(query.data && { detail: hostOf(query.data.service.baseUrl) })}
      actions={
        query.data && (
          <StatusMark tone={query.error === null ? 'allow' : 'wait'} bare>
            {query.error !== null
              ? 'No news'
              : isNarrow
                ? 'Live'
                : `Live since ${clockMinutes(openedMs)}, when this page was opened`}
          </StatusMark>
        )
      }
    >
      <Asked query={query} rows={4} shape="cards">
        {(reading) => (
          <Stack>
            <Fence fence={reading.fence} />
            <StateCards reading={reading} />
            <Plots points={points} reading={reading} />
            <Columns rail={<Care reading={reading} />}>
              <Chains reading={reading} />
            </Columns>
          </Stack>
        )}
      </Asked>
    </Page>
  );
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);

interface StateProps {
  readonly label: string;
  readonly value: string;
  readonly text: string;
  readonly tone?: 'allow' | 'wait' | 'deny';
}

const ICONS = { allow: 'check-circle', wait: 'triangle', deny: 'cross-circle' } as const;
const WORDS = { allow: 'good', wait: 'look closely', deny: 'bad' } as const;

function State({ label, value, text, tone = 'allow' }: StateProps) {
  return (
    <div className={styles.card}>
      <p className={styles.label}>
        <span className={cx(styles[tone])}>
          <Icon name={ICONS[tone]} label={WORDS[tone]} />
        </span>
        {label}
      </p>
      <p className={styles.value}>{value}</p>
      <p className={styles.text}>{text}</p>
    </div>
  );
}

/** A restored database: nothing is done until somebody on the machine accepts it. */
function Fence({ fence }: { readonly fence: Reading['fence'] }) {
  if (!fence.up) return null;
  const whom = fence.isWhole ? 'every organization' : 'organizations that are not accepted yet';
  return (
    <Note
      tone="wait"
      title={
        fence.restoredAt === undefined
          ? 'Nobody can tell whether the database was restored from a backup.'
          : `The database was restored from a backup on ${day(fence.restoredAt)} at ${clockMinutes(fence.restoredAt)}.`
      }
    >
      Queries are answered; requests are refused and work waits for {whom}. Run <code>custos restore review</code> and{' '}
      <code>custos restore accept</code> on the machine of the service.
    </Note>
  );
}

function StateCards({ reading }: { readonly reading: Reading }) {
  const nowMs = useNow();
  const { service, keys, chains } = reading;
  const reasons = Object.entries(service.reasons).map(([what, why]) => `${what}: ${why}`);
  const busy = service.connections.reduce((sum, pool) => sum + pool.busy, 0);
  const open = service.connections.reduce((sum, pool) => sum + pool.busy + pool.idle, 0);
  const waits = service.connections.reduce((sum, pool) => sum + pool.waiting, 0);
  const troubled = chains.filter((chain) => away(chain) > 0);
  const nodesAway = troubled.reduce((sum, chain) => sum + away(chain), 0);
  return (
    <div className={styles.cards}>
      <State
        label="Service"
        tone={service.ready ? 'allow' : 'deny'}
        value={service.ready ? 'Ready' : 'Not ready'}
        text={reasons.length > 0 ? reasons.join('; ') : `up ${duration(nowMs - Date.parse(service.startedAt))}`}
      />
      <State
        label="Keys"
        tone={keys.isRotating ? 'wait' : 'allow'}
        value={keys.isRotating ? 'Rotating' : 'Unsealed'}
        text={
          keys.keyringMs === undefined ? 'the keyring answers' : `keyring answers in ${keys.keyringMs.toFixed(1)} ms`
        }
      />
      <State
        label="Database"
        tone={waits > 0 ? 'wait' : 'allow'}
        value={`${service.database === 'sqlite' ? 'SQLite' : 'PostgreSQL'} ${service.databaseVersion}`}
        text={
          service.connections.length === 0
            ? 'embedded'
            : `${busy} of ${open} connections busy${waits > 0 ? `, ${waits} wait` : ''}`
        }
      />
      <State
        label={troubled.length === 1 && troubled[0] ? chainName(troubled[0].caip2) : 'Chains'}
        tone={
          nodesAway === 0 ? 'allow' : troubled.some((chain) => away(chain) === chain.nodes.length) ? 'deny' : 'wait'
        }
        value={chains.length === 0 ? 'None' : nodesAway === 0 ? 'All answer' : `${count(nodesAway, 'node')} away`}
        text={chains.length === 0 ? 'no chain is configured' : count(chains.length, 'chain')}
      />
      <State
        label="Version"
        value={service.version}
        text={`Node.js ${service.node.replace(/^v/, '')}, since ${day(service.startedAt)}`}
      />
    </div>
  );
}

const COLUMNS: readonly Column<Chain>[] = [
  {
    id: 'chain',
    header: 'Chain',
    cell: ({ caip2 }) => (
      <span className={styles.chain}>
        <ChainMark mark={chainName(caip2).slice(0, 3).toUpperCase()} />
        {chainName(caip2)}
      </span>
    ),
  },
  {
    id: 'nodes',
    header: 'Nodes',
    cell: (chain) => (
      <span title={chain.nodes.map(({ host, answers }) => `${host}: ${answers ? 'answers' : 'away'}`).join('\n')}>
        {chain.nodes.length - away(chain)} of {chain.nodes.length} answer
      </span>
    ),
  },
  {
    id: 'head',
    header: 'Head',
    align: 'right',
    cell: ({ head }) => (
      <span className={styles.number}>{head === undefined ? 'unknown' : withThousands(String(head))}</span>
    ),
  },
  {
    id: 'behind',
    header: 'Behind',
    align: 'right',
    cell: ({ behind }) => (behind === undefined ? '' : count(behind, 'block')),
  },
  {
    id: 'state',
    header: 'State',
    cell: (chain) => {
      const missing = away(chain);
      if (missing === 0) {
        return (
          <StatusMark tone="allow" bare>
            good
          </StatusMark>
        );
      }
      const isAll = missing === chain.nodes.length;
      return (
        <StatusMark tone={isAll ? 'deny' : 'wait'} bare {...(!isAll && { icon: 'triangle' as const })}>
          {isAll ? 'no node answers' : missing === 1 ? 'one node is away' : `${missing} nodes are away`}
        </StatusMark>
      );
    },
  },
];

function Chains({ reading }: { readonly reading: Reading }) {
  return (
    <Card title="Chains and nodes" detail={<Time time={reading.now} shape="clock" inRow />} flush>
      <Table
        label="Chains and nodes"
        columns={COLUMNS}
        rows={reading.chains}
        rowKey={({ caip2 }) => caip2}
        empty={
          <Empty title="No chain is configured" icon="link">
            Nodes and how far they are will be listed here. Name them in CUSTOS_CHAINS.
          </Empty>
        }
      />
    </Card>
  );
}

const ROOT_KEY_PLACES = {
  file: 'in a file',
  'passphrase-file': 'in a file, under a passphrase',
  keyring: 'held by the keyring',
} as const;
const KEYRINGS = {
  process: ', read by a process of the same user',
  inline: ', read by the service itself',
  socket: ', which runs apart from the service',
} as const;
const CHANNELS = { PROVIDER: 'a provider', INBOX: 'an inbox for trying out', NONE: 'nothing' } as const;

function Care({ reading }: { readonly reading: Reading }) {
  const nowMs = useNow();
  const { backup, keys, mail, disk } = reading;
  return (
    <Card title="Care">
      <Facts>
        <Fact label="Backup">
          {backup.lastAt !== undefined && <>{relative(backup.lastAt, nowMs)}. </>}
          {backup.text}
        </Fact>
        <Fact label="Root key">
          {ROOT_KEY_PLACES[keys.protection]}
          {KEYRINGS[keys.keyring]}
          {keys.keyring === 'socket' && keys.keyringUser === 'same' ? ' as the same user' : ''}
          {keys.retiredRootKeys > 0 && `; ${count(keys.retiredRootKeys, 'retired key')} kept`}
        </Fact>
        <Fact label="Mail">
          by {CHANNELS[mail.email]}
          {mail.host !== undefined && ` at ${mail.host}`}
          {mail.lastSentAt !== undefined && `, last ${relative(mail.lastSentAt, nowMs)}`}
          {mail.failed24h > 0 && `; ${mail.failed24h} failed in 24 h`}
        </Fact>
        <Fact label="SMS">by {CHANNELS[mail.sms]}</Fact>
        {disk && (
          <Fact label="Disk">
            {Math.round((100 * disk.usedBytes) / Math.max(1, disk.totalBytes))} % of {formatBytes(disk.totalBytes)}
          </Fact>
        )}
      </Facts>
    </Card>
  );
}
