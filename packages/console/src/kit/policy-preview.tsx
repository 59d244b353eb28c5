import { useState } from 'react';
import { problemOf } from '../api/problem.ts';
import type { Forecast, Simulation } from '../api/simulation.ts';
import { useApi } from '../api/use-api.ts';
import { withThousands } from '../lib/amounts.ts';
import { LimitBar } from './limit-bar.tsx';
import { LinkButton } from './link-button.tsx';
import styles from './policy-preview.module.css';
import { ProblemNote } from './problem-note.tsx';
import { type Reason, type ReasonOutcome, ReasonTree } from './reason-tree.tsx';
import { Seal } from './seal.tsx';
import { Sentence } from './sentence.tsx';
import { Skeleton } from './skeleton.tsx';

export type Prospect = 'completes' | 'waits' | 'proof' | 'denied';

export function prospectOf({ status }: Simulation): Prospect {
  if (status === 'ACTIVITY_STATUS_COMPLETED') return 'completes';
  if (status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED') return 'waits';
  return status === 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED' ? 'proof' : 'denied';
}

export interface PolicyPreviewProps {
  readonly forecast: Forecast;
  /** What to fill in first. */
  readonly hint: string;
}

/** What policies would say to it now, as the person who is signed in. */
export function PolicyPreview({ forecast, hint }: PolicyPreviewProps) {
  const { simulation, isChecking, error } = forecast;
  return (
    <section className={styles.preview} aria-label="What policies will say">
      <div className={styles.head}>
        <h3>What policies will say</h3>
        <span>now, as you</span>
      </div>
      <div aria-live="polite" className={styles.body}>
        {simulation ? (
          <Said simulation={simulation} />
        ) : error ? (
          <ProblemNote problem={problemOf(error)} />
        ) : isChecking ? (
          <Skeleton rows={2} shape="text" label="Asking" />
        ) : (
          <p className={styles.hint}>{hint}</p>
        )}
      </div>
    </section>
  );
}

const TITLES: Readonly<Record<Prospect, string>> = {
  completes: 'Done at once.',
  waits: 'Waits for approval.',
  proof: 'You give a further proof first.',
  denied: 'Would be denied.',
};

function Said({ simulation }: { readonly simulation: Simulation }) {
  const [hasReasons, setHasReasons] = useState(false);
  const prospect = prospectOf(simulation);
  const { rootQuorum, velocity, network, session, explanation } = simulation;
  const stopped = velocity.filter(({ satisfied }) => !satisfied);
  const whatWouldPass = explanation?.whatWouldPass;
  const isRoot = simulation.reason.startsWith('ROOT_QUORUM');
  // A policy's consensus has no number: this request is one approval, and at least one more is missing.
  const required = prospect === 'completes' ? 1 : isRoot ? rootQuorum.required : 2;
  const given = prospect === 'denied' ? 0 : isRoot ? Math.max(1, rootQuorum.given) : 1;
  return (
    <>
      <div className={styles.answer}>
        <Seal
          size={40}
          given={given}
          required={required}
          tone={prospect === 'completes' ? 'done' : prospect === 'denied' ? 'deny' : 'wait'}
          label=""
        />
        <div>
          <b>{isRoot && prospect === 'waits' ? moreWord(required - given) : TITLES[prospect]}</b>{' '}
          {prospect === 'waits' && 'Your request counts as the first approval. '}
          {network.allowed === false ? (
            'No IP allowlist lets this computer in.'
          ) : session?.covers === false ? (
            'Your session does not cover it.'
          ) : stopped.length > 0 ? (
            `The limit “${stopped[0]?.name}” would be passed.`
          ) : (
            <Sentence size="inherit" parts={explanation?.sentence ?? []} />
          )}
          {whatWouldPass !== undefined && prospect !== 'completes' && (
            <p className={styles.pass}>
              <b>{prospect === 'waits' ? 'What is missing:' : 'What would pass:'}</b> <bdi>{whatWouldPass}</bdi>.
            </p>
          )}
          {simulation.policyEvaluations.length > 0 && (
            <LinkButton aria-expanded={hasReasons} onClick={() => setHasReasons(!hasReasons)}>
              {hasReasons ? 'Hide the reasons' : 'Show the reasons'}
            </LinkButton>
          )}
        </div>
      </div>
      {hasReasons && <ReasonTree reasons={reasonsOf(simulation)} />}
      {velocity.length > 0 && <Limits simulation={simulation} />}
    </>
  );
}

const moreWord = (left: number): string => (left === 1 ? 'Waits for one more.' : `Waits for ${left} more.`);

const OUTCOMES: Readonly<Record<string, ReasonOutcome>> = {
  OUTCOME_ALLOW: 'ALLOWS',
  OUTCOME_DENY_EXPLICIT: 'DENIES',
  OUTCOME_REQUIRES_CONSENSUS: 'WAITS',
  OUTCOME_ERROR: 'NO_ANSWER',
};

/** What each policy said, for the tree of reasons. */
export const reasonsOf = ({ policyEvaluations, decidingPolicyIds }: Simulation): Reason[] =>
  policyEvaluations.map(({ policyId, policyName, effect, outcome, reason, explanation }, index) => ({
    id: `${policyId} ${index}`,
    name: policyName ?? policyId,
    effect: effect === 'EFFECT_DENY' ? 'DENY' : 'ALLOW',
    outcome: OUTCOMES[outcome] ?? 'DOES_NOT_APPLY',
    decided: decidingPolicyIds.includes(policyId),
    text: reason,
    ...(explanation && { explanation: explanation as NonNullable<Reason['explanation']> }),
  }));

/** The controls that count it: what is used now, and this request on top. */
function Limits({ simulation: { velocity } }: { readonly simulation: Simulation }) {
  const { data } = useApi('listVelocityUsage');
  return velocity.map(({ velocityControlId, name, aggregate, threshold, uncounted }) => {
    const limit = Number(threshold);
    const whole = Number(aggregate);
    const now = data?.usage.find((usage) => usage.velocityControlId === velocityControlId);
    // Of a control that counts users or wallets apart, the answer does not say which part is this one's.
    const used = now === undefined || now.groups !== undefined ? 0 : Number(now.aggregate);
    return (
      <LimitBar
        key={velocityControlId}
        label={
          <>
            Limit “<bdi>{name}</bdi>”
          </>
        }
        text={
          uncounted === undefined
            ? `${withThousands(aggregate)} of ${withThousands(threshold)}`
            : `cannot be counted: ${uncounted}`
        }
        used={limit === 0 ? 1 : used / limit}
        request={limit === 0 ? 0 : Math.max(0, whole - used) / limit}
      />
    );
  });
}
