import { problemOf } from '../../../api/problem.ts';
import type { Simulation } from '../../../api/simulation.ts';
import { Icon, type IconName } from '../../../kit/icon.tsx';
import { type Prospect, prospectOf } from '../../../kit/policy-preview.tsx';
import { ProblemNote } from '../../../kit/problem-note.tsx';
import { Sentence } from '../../../kit/sentence.tsx';
import { Skeleton } from '../../../kit/skeleton.tsx';
import { cx } from '../../../lib/cx.ts';
import styles from './simulation.module.css';

const SHAPES: Readonly<Record<Prospect, readonly [word: string, icon: IconName, tone: 'allow' | 'wait' | 'deny']>> = {
  completes: ['Allowed', 'check-circle', 'allow'],
  waits: ['Waits for approvals', 'clock', 'wait'],
  proof: ['Waits for a further proof', 'passkey', 'wait'],
  denied: ['Denied', 'cross-circle', 'deny'],
};

export interface OutcomeCardProps {
  /** "With the stored policy". */
  readonly title: string;
  readonly simulation: Simulation | undefined;
  readonly error: Error | null;
  /** Drawn with its colour, as it differs from the other one. */
  readonly differs: boolean;
  /** Where there is nothing to ask for. */
  readonly instead?: string;
}

/** What would become of the request, in one word and one sentence. */
export function OutcomeCard({ title, simulation, error, differs, instead }: OutcomeCardProps) {
  const shape = simulation && SHAPES[prospectOf(simulation)];
  return (
    <section aria-label={title} className={cx(styles.outcome, differs && shape && styles[`${shape[2]}Edge`])}>
      <p className={styles.title}>{title}</p>
      {instead !== undefined ? (
        <p className={styles.why}>{instead}</p>
      ) : simulation && shape ? (
        <>
          <p className={cx(styles.word, styles[shape[2]])}>
            <Icon name={shape[1]} size={18} />
            <b>{shape[0]}</b>
          </p>
          <p className={styles.why}>
            <Why simulation={simulation} />
          </p>
        </>
      ) : error ? (
        <ProblemNote problem={problemOf(error)} />
      ) : (
        <Skeleton rows={2} shape="text" label="Asking" />
      )}
    </section>
  );
}

/** Limits and lists stand outside of policies; what they stop is said first. */
function Why({ simulation: { network, session, velocity, explanation } }: { readonly simulation: Simulation }) {
  if (network.allowed === false) return 'No IP allowlist lets this computer in.';
  if (session?.covers === false) return 'The session does not cover it.';
  const stopped = velocity.find(({ satisfied }) => !satisfied);
  if (stopped !== undefined) {
    return (
      <>
        The limit “<bdi>{stopped.name}</bdi>” would be passed.
      </>
    );
  }
  return <Sentence size="inherit" parts={explanation.sentence} />;
}
