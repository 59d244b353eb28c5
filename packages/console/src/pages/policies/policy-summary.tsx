import { problemOf } from '../../api/problem.ts';
import { ProblemNote } from '../../kit/problem-note.tsx';
import { RiskMark } from '../../kit/risk-mark.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import { Skeleton } from '../../kit/skeleton.tsx';
import { StatusMark } from '../../kit/status-mark.tsx';
import { Tag } from '../../kit/tag.tsx';
import type { Draft } from './draft.ts';
import styles from './policies.module.css';
import type { PolicyDescription } from './use-description.ts';

export interface PolicySummaryProps {
  readonly draft: Draft;
  readonly description: PolicyDescription | undefined;
  readonly isNew: boolean;
  readonly isChanged: boolean;
  readonly error: Error | null;
}

/** What the draft means, in one sentence, and how it differs from what is stored. */
export function PolicySummary({ draft, description, isNew, isChanged, error }: PolicySummaryProps) {
  const isDenial = draft.effect === 'EFFECT_DENY';
  return (
    <section aria-label="Summary" className={styles.summary}>
      <div className={styles.marks}>
        <Tag kind={isDenial ? 'deny' : 'allow'}>{isDenial ? 'Deny' : 'Allow'}</Tag>
        {description && <RiskMark risk={description.risk} />}
        {!isNew && isChanged && description?.direction === 'WIDEN' && (
          <StatusMark tone="wait" icon="triangle">
            wider than stored
          </StatusMark>
        )}
        {!isNew && isChanged && description?.direction === 'NARROW' && (
          <StatusMark tone="plain" icon="arrow-down">
            narrower than stored
          </StatusMark>
        )}
        {!isNew && isChanged && description?.direction === 'CHANGE' && (
          <StatusMark tone="wait" icon="triangle">
            differs from stored: look closely
          </StatusMark>
        )}
      </div>
      {description !== undefined ? (
        <Sentence as="p" size="inherit" className={styles.sentence} parts={description.sentence} />
      ) : error === null ? (
        <Skeleton rows={2} shape="text" label="Reading the policy" />
      ) : (
        <ProblemNote problem={problemOf(error)} />
      )}
    </section>
  );
}
