import type { ReactNode } from 'react';
import type { Approval } from '../../api/approvals.ts';
import type { Description } from '../../api/types.ts';
import type { VoteFindings } from '../../api/vote.ts';
import { Card } from '../../kit/card.tsx';
import { Note } from '../../kit/note.tsx';
import { RiskMark } from '../../kit/risk-mark.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import { Time } from '../../kit/time.tsx';
import { DescribedFields } from './described-fields.tsx';
import { type Layer, LayersBar } from './layers.tsx';
import { Parties } from './parties.tsx';
import { PolicyDiff } from './policy-diff.tsx';
import { QuorumChange } from './quorum-change.tsx';
import styles from './request.module.css';
import { StateNotes } from './state-notes.tsx';
import type { Decision } from './use-decision.ts';
import { useEffects } from './use-effects.ts';
import { UnverifiedNote, WhoDecides, WhyAsked } from './votes.tsx';
import { credentialWords } from './words.ts';

export interface RequestSheetProps {
  readonly approval: Approval;
  readonly description: Description;
  readonly checks: VoteFindings | undefined;
  readonly decision: Decision;
  readonly layer: Layer | undefined;
  readonly onLayer: (layer: Layer | undefined) => void;
}

const FACTS_MAX = 8;

/** Everything that a person needs in order to decide, the sentence first. */
export function RequestSheet({ approval, description, checks, decision, layer, onLayer }: RequestSheetProps) {
  const { activity, progress } = approval;
  const { quorumChange, policyChange } = description;
  const effects = useEffects(approval);
  const facts = quorumChange === undefined && policyChange === undefined ? factsOf(description) : [];
  const hasWays = progress.ways.length > 0;
  return (
    <div className={styles.sheet}>
      <KindLine approval={approval} description={description} />
      <Sentence as="h2" size="decision" parts={description.sentence} className={styles.title} />
      <StateNotes approval={approval} decision={decision} />
      <UnverifiedNote votes={progress.votes} checks={checks} />
      <RiskNote description={description} />
      <Steps description={description} />
      <Parties description={description} moved={effects.moved} />
      {quorumChange !== undefined && <QuorumChange change={quorumChange} />}
      {policyChange !== undefined && <PolicyDiff change={policyChange} />}
      {(facts.length > 0 || hasWays) && (
        <div className={facts.length > 0 && hasWays ? styles.pair : undefined}>
          {facts.length > 0 && (
            <Card title={description.bytes === undefined ? 'What is asked' : 'What it does on the chain'}>
              <DescribedFields fields={facts} copy={false} />
            </Card>
          )}
          <WhyAsked progress={progress} limits={effects.limits} />
        </div>
      )}
      <WhoDecides progress={progress} checks={checks} />
      <LayersBar activity={activity} description={description} checks={checks} open={layer} onOpen={onLayer} />
    </div>
  );
}

const PARTIES: ReadonlySet<string> = new Set(['From', 'To']);
/** They change nothing about the decision; the layer Fields has them. */
const TECHNICAL: ReadonlySet<string> = new Set(['Nonce', 'Gas limit', 'Price of gas, at most', 'Tip, at most']);

const hasParties = (sender: Description['sender'], recipients: Description['recipients']): boolean =>
  sender !== undefined && recipients.length > 0;

/** What the cards above do not say already. */
const factsOf = ({ fields, sender, recipients }: Description) =>
  fields
    .filter(
      ({ label, kind }) =>
        kind !== 'BYTES' && !TECHNICAL.has(label) && !(hasParties(sender, recipients) && PARTIES.has(label)),
    )
    .slice(0, FACTS_MAX);

/** "Sign a transaction · asked 14 min ago by Payout bot with API key “server-1” from 203.0.113.24". */
export function KindLine({ approval, description }: Pick<RequestSheetProps, 'approval' | 'description'>) {
  const { submitter } = approval.progress;
  const credential = submitter === undefined ? undefined : credentialWords(submitter);
  return (
    <p className={styles.kind}>
      {description.kind} · asked <Time time={approval.activity.createdAt} />
      {submitter !== undefined && (
        <>
          {' '}
          by{' '}
          <b>
            <bdi>{submitter.userName}</bdi>
          </b>
        </>
      )}
      {credential !== undefined && (
        <>
          {' '}
          with <bdi>{credential}</bdi>
        </>
      )}
      {submitter?.sourceAddress !== undefined && (
        <>
          {' '}
          from <code>{submitter.sourceAddress}</code>
        </>
      )}
    </p>
  );
}

/** The worst first: what makes it so, in words. */
function RiskNote({ description }: { readonly description: Description }) {
  const { risk, marks, consequence } = description;
  if (risk === 'ROUTINE') return null;
  const reasons = marks.map(({ text }) => text).filter((text) => text !== '');
  if (risk === 'LOOK_CLOSELY') {
    return <Note tone="wait" title={`Look closely${reasons.length > 0 ? `: ${reasons.join('; ')}` : ''}.`} />;
  }
  return (
    <Note
      tone="deny"
      icon={risk === 'UNREADABLE' ? 'question' : 'octagon'}
      title={`${risk === 'UNREADABLE' ? 'Unreadable' : 'Danger'}${reasons.length > 0 ? `: ${reasons.join('; ')}` : ''}.`}
    >
      {consequence !== undefined && risk === 'DANGER' ? withoutWish(consequence) : undefined}
    </Note>
  );
}

/** The consequence without the wish: nobody has ticked it here. */
const withoutWish = (consequence: string): string => consequence.replace(/\s*I want that\.$/, '');

/** Nested calls and several transactions, each as its own sentence. */
function Steps({ description }: { readonly description: Description }) {
  if (description.steps.length === 0) return null;
  const items: ReactNode[] = description.steps.map(({ sentence, risk }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: steps of a request never move
    <li key={index}>
      <Sentence parts={sentence} /> <RiskMark risk={risk} />
    </li>
  ));
  return (
    <Card title="Step by step">
      <ol className={styles.steps}>{items}</ol>
    </Card>
  );
}
