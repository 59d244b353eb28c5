import type { Activity } from '@custos/sdk';
import { useState } from 'react';
import { useApi } from '../../api/use-api.ts';
import { Asked } from '../../kit/asked.tsx';
import { Card } from '../../kit/card.tsx';
import { ReasonTree } from '../../kit/reason-tree.tsx';
import { Segmented } from '../../kit/segmented.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import styles from './activities.module.css';
import { reasonsOf, resultOf, type VoteEvaluation } from './reasons.ts';

const TITLES: Readonly<Record<string, string>> = {
  ACTIVITY_STATUS_REJECTED: 'Why it was denied',
  ACTIVITY_STATUS_COMPLETED: 'Why it was allowed',
  ACTIVITY_STATUS_FAILED: 'Why it was allowed',
};

/** What the policies said at each vote, in plain words. */
export function Why({ activity }: { readonly activity: Activity }) {
  const query = useApi('getPolicyEvaluations', { activityId: activity.id });
  const [chosen, setChosen] = useState<string>();
  const title = TITLES[activity.status] ?? 'Why it waits';
  const order = new Map(activity.votes.map(({ id }, index) => [id, index]));
  return (
    <Asked query={query} rows={3} label="Loading the reasons">
      {({ policyEvaluations }) => {
        const votes = [...(policyEvaluations as readonly VoteEvaluation[])].sort(
          (one, other) => (order.get(one.voteId) ?? 0) - (order.get(other.voteId) ?? 0),
        );
        const shown = votes.find(({ id }) => id === chosen) ?? votes.at(-1);
        if (shown === undefined) return <RootAlone activity={activity} title={title} />;
        const resultAt = (vote: VoteEvaluation) => resultOf(vote, vote === votes.at(-1), activity.status);
        const result = resultAt(shown);
        const reasons = reasonsOf(shown, result);
        const whatWouldPass =
          shown.explanation?.whatWouldPass ??
          (result === 'denied' ? reasons.find(({ decided }) => decided)?.explanation?.whatWouldPass : undefined);
        return (
          <Card
            flush
            title={title}
            {...(votes.length > 1 && {
              actions: (
                <Segmented
                  label="Vote"
                  items={votes.map((vote, index) => ({ id: vote.id, label: `Vote ${index + 1} ${resultAt(vote)}` }))}
                  value={shown.id}
                  onChange={setChosen}
                />
              ),
            })}
          >
            {shown.explanation !== undefined && (
              <p className={styles.pad}>
                <Sentence parts={shown.explanation.sentence} size="fact" />
              </p>
            )}
            <ReasonTree key={shown.id} reasons={reasons} {...(whatWouldPass !== undefined && { whatWouldPass })} />
          </Card>
        );
      }}
    </Asked>
  );
}

/** Where no policy was asked. */
function RootAlone({ activity, title }: { readonly activity: Activity; readonly title: string }) {
  const rejecter = activity.votes.find(({ selection }) => selection === 'VOTE_SELECTION_REJECTED');
  return (
    <Card title={title}>
      <p className={styles.pad}>
        {rejecter === undefined ? (
          'No policy was asked: the root quorum decides this alone, or a rule of the service does.'
        ) : (
          <>
            <bdi>{rejecter.user.userName}</bdi> rejected it. One rejection is final.
          </>
        )}
      </p>
    </Card>
  );
}
