import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type Account, useChains } from '../../api/chains.ts';
import { useDescriptions } from '../../api/descriptions.ts';
import { problemOf } from '../../api/problem.ts';
import { useApi } from '../../api/use-api.ts';
import { Card } from '../../kit/card.tsx';
import { Empty } from '../../kit/empty.tsx';
import { ProblemNote } from '../../kit/problem-note.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import { Skeleton } from '../../kit/skeleton.tsx';
import { StatusMark } from '../../kit/status-mark.tsx';
import { Time } from '../../kit/time.tsx';
import { plainSentence, stateOf } from '../sends/send-model.ts';
import { accountName } from './accounts-card.tsx';
import styles from './sends-card.module.css';

const SHOWN = 8;

/** The newest sends of an account. */
export function SendsCard({ account, all }: { readonly account: Account; readonly all: ReactNode }) {
  const query = useApi('listSends', {
    senderAddress: account.address,
    paginationOptions: { limit: String(SHOWN) },
  });
  const chains = useChains().data?.chains ?? [];
  const sends = query.data?.sends ?? [];
  const descriptions = useDescriptions(sends.map(({ activityId }) => activityId));
  return (
    <Card
      title="Sends"
      detail={
        <>
          from <bdi>{accountName(account)}</bdi>
        </>
      }
      actions={all}
      flush
    >
      {query.error && <ProblemNote problem={problemOf(query.error)} onRetry={() => void query.refetch()} />}
      {query.isPending ? (
        <Skeleton rows={3} />
      ) : sends.length === 0 ? (
        <div className={styles.empty}>
          <Empty
            title="Nothing was sent yet"
            icon="send"
            call="await client.ethSendTransaction({ from, caip2, calls: [{ to, value }] })"
          >
            What leaves this account will be listed here with its block and fee. Requests that wait for approval are in
            the inbox.
          </Empty>
        </div>
      ) : (
        <ul className={styles.list}>
          {sends.map((send) => {
            const { tone, text } = stateOf(send, chains);
            const sentence = descriptions.get(send.activityId)?.sentence;
            return (
              <li key={send.sendTransactionStatusId} className={styles.row}>
                <Link className={styles.what} to="/activities/$activityId" params={{ activityId: send.activityId }}>
                  {sentence ? <Sentence size="fact" parts={sentence} /> : plainSentence(send, chains)}
                </Link>
                <span className={styles.state}>
                  <StatusMark tone={tone} bare>
                    {text}
                  </StatusMark>
                  <span className={styles.time}>
                    <Time time={send.createdAt} />
                  </span>
                </span>
              </li>
            );
          })}
        </ul>
      )}
    </Card>
  );
}
