import { useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { type Approval, useApproval, useVoteChecks } from '../../api/approvals.ts';
import { problemOf } from '../../api/problem.ts';
import type { VoteFindings } from '../../api/vote.ts';
import { Avatar } from '../../kit/avatar.tsx';
import { Card } from '../../kit/card.tsx';
import { Fact, Facts } from '../../kit/facts.tsx';
import { Hash } from '../../kit/hash.tsx';
import { Columns, Page } from '../../kit/page.tsx';
import { ProblemNote } from '../../kit/problem-note.tsx';
import { RiskMark } from '../../kit/risk-mark.tsx';
import { SameWithLink } from '../../kit/same-with.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import { Skeleton } from '../../kit/skeleton.tsx';
import { ActivityStatus, StatusMark } from '../../kit/status-mark.tsx';
import { Tabs } from '../../kit/tabs.tsx';
import { Time } from '../../kit/time.tsx';
import { DecisionBar } from '../request/decision-bar.tsx';
import { LAYERS, type Layer, LayerContent } from '../request/layers.tsx';
import { Confirmation, useDecisionKeys } from '../request/open-request.tsx';
import { Parties } from '../request/parties.tsx';
import { PolicyDiff } from '../request/policy-diff.tsx';
import { QuorumChange } from '../request/quorum-change.tsx';
import { withRequestCheck } from '../request/reading.ts';
import { KindLine } from '../request/request-sheet.tsx';
import { StateNotes } from '../request/state-notes.tsx';
import { useDecision } from '../request/use-decision.ts';
import { useEffects } from '../request/use-effects.ts';
import { CameFrom, CheckMark, checkOf, UnverifiedNote, WhyAsked } from '../request/votes.tsx';
import { isOpen } from '../request/words.ts';
import styles from './activities.module.css';
import { Followed } from './followed.tsx';
import { Why } from './why.tsx';

const PARENT = { label: 'Activities', to: '/activities' };

export function ActivityPage() {
  const { activityId } = useParams({ from: '/shell/activities/$activityId' });
  return <AskedActivity key={activityId} activityId={activityId} />;
}

function AskedActivity({ activityId }: { readonly activityId: string }) {
  const approval = useApproval(activityId);
  if (approval.data === undefined) {
    return (
      <Page title={`Activity ${activityId}`} parent={PARENT}>
        {approval.isError ? (
          <ProblemNote problem={problemOf(approval.error)} onRetry={() => void approval.refetch()} />
        ) : (
          <Skeleton shape="text" rows={8} label="Loading the activity" />
        )}
      </Page>
    );
  }
  return <Loaded approval={approval.data.approval} />;
}

function Loaded({ approval }: { readonly approval: Approval }) {
  const { activity, progress, description: told } = approval;
  const checks = useVoteChecks(activity, progress.votes.length);
  const description = useMemo(() => withRequestCheck(told, checks.data), [told, checks.data]);
  const decision = useDecision(approval, description, checks);
  const [layer, setLayer] = useState<Layer>('fields');
  const openLayer = (next: Layer): void => {
    setLayer(next);
    if (next === 'bytes') decision.seeBytes();
  };
  useDecisionKeys(approval, description, decision, openLayer);
  const effects = useEffects(approval);
  const isWaiting = isOpen(activity.status);
  return (
    <Page
      title={description.text}
      parent={PARENT}
      actions={<SameWithLink method="getActivity" parameters={{ activityId: activity.id }} />}
    >
      <Columns
        rail={
          <>
            <VotesCard approval={approval} checks={checks.data} />
            <Followed activity={activity} />
            <Card>
              <Facts>
                <Fact label="Activity">
                  <Hash value={activity.id} what="activity id" />
                </Fact>
                <Fact label="Fingerprint">
                  <Hash value={activity.fingerprint} what="fingerprint" />
                </Fact>
                <Fact label="Type">
                  <code>{activity.type.replace(/^ACTIVITY_TYPE_/, '')}</code>
                </Fact>
              </Facts>
            </Card>
          </>
        }
      >
        <p className={styles.status}>
          <ActivityStatus status={activity.status} strong />
          <span>
            <Time time={progress.decidedAt ?? activity.updatedAt} shape="exact" />
          </span>
          {description.risk !== 'ROUTINE' && <RiskMark risk={description.risk} text={description.marks[0]?.text} />}
        </p>
        <KindLine approval={approval} description={description} />
        <Sentence as="h2" size="decision" parts={description.sentence} />
        <StateNotes approval={approval} decision={decision} />
        <UnverifiedNote votes={progress.votes} checks={checks.data} />
        {activity.failure !== undefined && activity.status === 'ACTIVITY_STATUS_FAILED' && (
          <Card title="Why it failed" tone="deny">
            <bdi>{activity.failure.message}</bdi>
          </Card>
        )}
        {isWaiting && <Parties description={description} moved={effects.moved} />}
        {isWaiting && <WhyAsked progress={progress} limits={effects.limits} />}
        <Why activity={activity} />
        {description.quorumChange !== undefined && <QuorumChange change={description.quorumChange} />}
        {description.policyChange !== undefined && <PolicyDiff change={description.policyChange} />}
        <Card>
          <Tabs
            label="Layers"
            items={[...LAYERS.slice(0, 3), { id: 'result', label: 'Result' }, ...LAYERS.slice(3)]}
            value={layer}
            onChange={openLayer}
          >
            <LayerContent layer={layer} activity={activity} description={description} checks={checks.data} />
          </Tabs>
        </Card>
      </Columns>
      {isWaiting && !checks.isPending && (
        <div className={styles.decide}>
          <DecisionBar approval={approval} description={description} decision={decision} />
        </div>
      )}
      <Confirmation description={description} checks={checks.data} decision={decision} />
    </Page>
  );
}

/** Who voted, and what this browser found about each signature. */
function VotesCard({ approval, checks }: { readonly approval: Approval; readonly checks: VoteFindings | undefined }) {
  const { votes } = approval.progress;
  const verified = votes.filter(({ voteId }) => checkOf(checks, voteId) === 'verified').length;
  return (
    <Card
      flush
      title="Votes"
      {...(votes.length > 0 &&
        checks !== undefined && {
          actions: (
            <StatusMark
              tone={verified === votes.length ? 'allow' : 'plain'}
              icon={verified === votes.length ? 'check' : false}
            >
              {verified} of {votes.length} verified
            </StatusMark>
          ),
        })}
    >
      {votes.length === 0 && (
        <p className={styles.pad}>Nobody voted: the service did this by itself, or a proof is missing.</p>
      )}
      <ul>
        {votes.map((vote, index) => (
          <li key={vote.voteId} className={styles.vote}>
            <Avatar name={vote.userName} isProgram={vote.isProgram} />
            <div className={styles.voteText}>
              <p>
                <b>
                  <bdi>{vote.userName}</bdi>
                </b>{' '}
                {vote.selection === 'REJECTED' ? 'rejected' : index === 0 ? 'asked' : 'approved'}
              </p>
              <p className={styles.meta}>
                <CameFrom vote={vote} />
              </p>
              <CheckMark check={checkOf(checks, vote.voteId)} />
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}
