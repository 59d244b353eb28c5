import { useMemo, useState } from 'react';
import { type Chain, useChains } from '../../api/chains.ts';
import { useDescription } from '../../api/descriptions.ts';
import { problemOf } from '../../api/problem.ts';
import { useApi, useApiPages } from '../../api/use-api.ts';
import { LiveState } from '../../app/connection-banner.tsx';
import { Empty } from '../../kit/empty.tsx';
import { Page } from '../../kit/page.tsx';
import { ProblemNote } from '../../kit/problem-note.tsx';
import { Segmented } from '../../kit/segmented.tsx';
import { Select } from '../../kit/select.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import { Skeleton } from '../../kit/skeleton.tsx';
import { StatusMark } from '../../kit/status-mark.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { VirtualTable } from '../../kit/virtual-table.tsx';
import { chainName } from '../../lib/chains.ts';
import { SendDialog } from './send-dialog.tsx';
import { plainSentence, type Send, type SendState, STATES, stateOf } from './send-model.ts';
import styles from './sends.module.css';

const ALL = 'ALL';
const NO_CHAINS: readonly Chain[] = [];

export function SendsPage() {
  const [state, setState] = useState<SendState | typeof ALL>(ALL);
  const [caip2, setCaip2] = useState<string>(ALL);
  const [opened, setOpened] = useState<string | undefined>(
    () => new URLSearchParams(location.search).get('send') ?? undefined,
  );
  const chains = useChains().data?.chains ?? NO_CHAINS;
  const filter = { ...(state !== ALL && { filterByState: [state] }), ...(caip2 !== ALL && { caip2 }) };
  const { items, query, hasMore, loadMore } = useApiPages('listSends', filter, ({ sends }) => sends, {
    keyOf: ({ sendTransactionStatusId }) => sendTransactionStatusId,
  });
  const columns = useMemo(() => columnsOf(chains), [chains]);
  const isFiltered = state !== ALL || caip2 !== ALL;
  const shown = items.find(({ sendTransactionStatusId }) => sendTransactionStatusId === opened);
  return (
    <Page title="Sends" fill actions={<LiveState />}>
      <div className={styles.fill}>
        <div className={styles.bar}>
          <Segmented
            label="State"
            items={[{ id: ALL, label: 'All' } as const, ...STATES]}
            value={state}
            onChange={setState}
          />
          <div className={styles.chain}>
            <Select
              label="Chain"
              hideLabel
              value={caip2}
              onChange={setCaip2}
              options={[
                { value: ALL, label: 'All chains' },
                ...chains.map((chain) => ({ value: chain.caip2, label: chainName(chain.caip2) })),
              ]}
            />
          </div>
        </div>
        {query.error && <ProblemNote problem={problemOf(query.error)} onRetry={() => void query.refetch()} />}
        {query.isPending ? (
          <Skeleton rows={8} />
        ) : (
          <div className={styles.frame}>
            <VirtualTable
              label="Sends"
              columns={columns}
              rows={items}
              rowKey={({ sendTransactionStatusId }) => sendTransactionStatusId}
              selectedKey={opened}
              onOpen={({ sendTransactionStatusId }) => setOpened(sendTransactionStatusId)}
              hasMore={hasMore}
              isLoadingMore={query.isFetchingNextPage}
              onMore={loadMore}
              empty={
                <div className={styles.padded}>
                  <Empty
                    title={isFiltered ? 'No send is like that' : 'Nothing was sent yet'}
                    icon="send"
                    call="await client.ethSendTransaction({ from, caip2, calls: [{ to, value }] })"
                  >
                    {isFiltered
                      ? 'Choose another state or chain.'
                      : chains.length === 0
                        ? 'Transactions that the service sends will be listed here. No chain is configured: the operator adds one to the setting CUSTOS_CHAINS.'
                        : 'Transactions that the service sends will be listed here, with every attempt, its block and its fee. Send from a wallet’s page.'}
                  </Empty>
                </div>
              }
            />
          </div>
        )}
      </div>
      {shown && <SendDialog send={shown} chains={chains} onClose={() => setOpened(undefined)} />}
      {opened !== undefined && shown === undefined && !query.isPending && (
        <Elsewhere id={opened} onClose={() => setOpened(undefined)} />
      )}
    </Page>
  );
}

const columnsOf = (chains: readonly Chain[]): readonly Column<Send>[] => [
  {
    id: 'what',
    header: 'Send',
    width: 'minmax(0, 3fr)',
    cell: (send) => <What send={send} chains={chains} />,
  },
  { id: 'chain', header: 'Chain', width: 'minmax(0, 1fr)', cell: (send) => chainName(send.caip2) },
  {
    id: 'state',
    header: 'State',
    width: 'minmax(0, 1.6fr)',
    cell: (send) => {
      const { tone, text } = stateOf(send, chains);
      return (
        <StatusMark tone={tone} bare>
          {text}
        </StatusMark>
      );
    },
  },
  {
    id: 'at',
    header: 'Asked',
    width: '112px',
    align: 'right',
    cell: ({ createdAt }) => <Time inRow time={createdAt} />,
  },
];

function What({ send, chains }: { readonly send: Send; readonly chains: readonly Chain[] }) {
  const sentence = useDescription(send.activityId)?.sentence;
  return sentence ? <Sentence size="fact" parts={sentence} /> : <b>{plainSentence(send, chains)}</b>;
}

/** A link can name a send that the list does not show; its state is known all the same. */
function Elsewhere({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { data, error } = useApi('getSendTransactionStatus', { sendTransactionStatusId: id });
  if (error) return <ProblemNote problem={problemOf(error)} onRetry={onClose} />;
  if (data === undefined) return null;
  const word = STATES.find(({ id: state }) => state === data.txStatus)?.label ?? data.txStatus;
  return (
    <p role="status" className={styles.padded}>
      The send of the link is not in this list. Its state: {word}
      {data.txError !== undefined && `, ${data.txError}`}.
    </p>
  );
}
