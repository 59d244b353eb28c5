import { Link } from '@tanstack/react-router';
import type { Problem } from '../api/problem.ts';
import type { Outcome } from '../api/use-submit.ts';
import { useNow } from '../app/now.ts';
import { clock } from '../lib/time.ts';
import { Button } from './button.tsx';
import type { IconName } from './icon.tsx';
import { Note, type NoteTone } from './note.tsx';

const TONES: Readonly<Record<Problem['kind'], NoteTone>> = {
  session: 'wait',
  denied: 'deny',
  gone: 'info',
  conflict: 'wait',
  'too-often': 'wait',
  unavailable: 'wait',
  offline: 'wait',
  clock: 'wait',
  invalid: 'deny',
  passkey: 'wait',
  bug: 'deny',
};

const ICONS: Partial<Record<Problem['kind'], IconName>> = {
  denied: 'cross-circle',
  'too-often': 'clock',
  clock: 'clock',
  passkey: 'passkey',
};

export interface ProblemNoteProps {
  readonly problem: Problem;
  /** "Try again". */
  readonly onRetry?: (() => void) | undefined;
}

/** What went wrong, in the words and colour of its kind. */
export function ProblemNote({ problem, onRetry }: ProblemNoteProps) {
  const { kind, title, text, fields, activityId, code, retryAtMs } = problem;
  const icon = ICONS[kind];
  const waitMs = (retryAtMs ?? 0) - useNow();
  return (
    <Note
      tone={TONES[kind]}
      title={title}
      role="alert"
      {...(icon && { icon })}
      actions={
        // Whose session ended signs in over the page, which then asks again by itself.
        onRetry && kind !== 'session' ? (
          <Button size="small" onClick={onRetry}>
            Try again
          </Button>
        ) : undefined
      }
    >
      {text}
      {retryAtMs !== undefined && waitMs > 0 && ` Try again at ${clock(retryAtMs)}.`}
      {fields.map(({ field, description }) => (
        <span key={field} style={{ display: 'block' }}>
          <code>{field}</code> {description}
        </span>
      ))}
      {activityId !== undefined && (
        <>
          {' '}
          <Link to="/activities/$activityId" params={{ activityId }}>
            See the activity
          </Link>
        </>
      )}
      {code !== undefined && (kind === 'bug' || kind === 'invalid' || kind === 'denied') && (
        <>
          {' '}
          <code>{code}</code>
        </>
      )}
    </Note>
  );
}

export interface OutcomeNoteProps {
  readonly outcome: Outcome<unknown> | undefined;
  /** What is done: "The wallet was created." */
  readonly done?: string;
  readonly onRepeat?: () => void;
}

const NEEDS = {
  approvals: ['Waits for approval.', 'Others find it in their inbox.', 'clock', 'wait'],
  proof: ['A further proof is needed.', 'The inbox takes it.', 'passkey', 'info'],
  time: ['It still runs.', 'Its page shows when it is done.', 'clock', 'wait'],
} as const;

/** What became of something that was asked for; nothing before. */
export function OutcomeNote({ outcome, done = 'Done.', onRepeat }: OutcomeNoteProps) {
  if (outcome === undefined) return null;
  switch (outcome.state) {
    case 'completed':
      return <Note tone="allow" role="status" title={done} />;
    case 'waits': {
      const [title, text, icon, tone] = NEEDS[outcome.needs];
      const params = { activityId: outcome.activity.id };
      return (
        <Note tone={tone} icon={icon} role="status" title={title}>
          {text}{' '}
          {outcome.needs === 'proof' ? (
            <Link to="/inbox/$activityId" params={params}>
              Give it
            </Link>
          ) : (
            <Link to="/activities/$activityId" params={params}>
              See the activity
            </Link>
          )}
        </Note>
      );
    }
    default:
      return <ProblemNote problem={outcome.problem} onRetry={outcome.repeatable ? onRepeat : undefined} />;
  }
}

/** What the service says about one field of a form: `parameters.walletName` is found by `walletName`. */
export function fieldProblem(outcome: Outcome<unknown> | undefined, field: string): string | undefined {
  if (outcome?.state !== 'refused') return undefined;
  return outcome.problem.fields.find(({ field: path }) => path === field || path.endsWith(`.${field}`))?.description;
}
