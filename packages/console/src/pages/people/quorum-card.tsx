import { useNow } from '../../app/now.ts';
import { Avatar } from '../../kit/avatar.tsx';
import { Button } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { LinkButton } from '../../kit/link-button.tsx';
import { Note } from '../../kit/note.tsx';
import { QuorumRing } from '../../kit/quorum-ring.tsx';
import { StatusMark } from '../../kit/status-mark.tsx';
import { useSessionOrThrow } from '../../session/session.ts';
import styles from './people.module.css';
import { countSets, isAway, names, presenceOf, type RootUser, sufficientSets, weakestPoint } from './quorum.ts';

const NUMBERS = ['none', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const numberWord = (number: number): string => NUMBERS[number] ?? String(number);

export interface QuorumCardProps {
  readonly threshold: number;
  readonly users: readonly RootUser[];
  readonly off: string | undefined;
  readonly onChange: () => void;
  readonly onAddPasskey: () => void;
}

/** Who can do everything, every set of them that suffices, and where it breaks first. */
export function QuorumCard({ threshold, users, off, onChange, onAddPasskey }: QuorumCardProps) {
  const nowMs = useNow();
  const { userId } = useSessionOrThrow();
  const sets = sufficientSets(users, threshold);
  const weak = weakestPoint(users, threshold, nowMs, userId);
  return (
    <Card
      title="Root quorum"
      actions={
        <Button off={off} hideReason onClick={onChange}>
          Change
        </Button>
      }
    >
      <div className={styles.quorum}>
        <div className={styles.ring}>
          <QuorumRing
            threshold={threshold}
            caption="root quorum"
            people={users.map((user) => ({ ...user, isAway: isAway(user, nowMs) }))}
          />
        </div>
        <div className={styles.words}>
          <p className={styles.lead}>
            {users.length === 1 ? (
              <>
                <b>
                  <bdi>{names(users)}</bdi>
                </b>{' '}
                alone can do everything.
              </>
            ) : (
              <>
                Any <b>{numberWord(threshold)}</b> of these <b>{numberWord(users.length)}</b> can do everything.
              </>
            )}{' '}
            No policy binds them.
          </p>
          {sets === undefined ? (
            <p className={styles.quiet}>
              {countSets(users.length, threshold)} sets of {numberWord(threshold)} suffice, too many to list: any{' '}
              {numberWord(threshold)} of <bdi>{names(users, 'or')}</bdi>.
            </p>
          ) : (
            <ul className={styles.sets} aria-label="Sets of people that suffice">
              {sets.map((set) => {
                const { isGood, text } = presenceOf(set, nowMs);
                return (
                  <li key={set.map((user) => user.userId).join()} className={styles.set}>
                    <span className={styles.faces} aria-hidden="true">
                      {set.map((user, index) => (
                        <span key={user.userId} className={styles.faces}>
                          {index > 0 && '+'}
                          <Avatar name={user.userName} isProgram={user.isProgram} size={22} />
                        </span>
                      ))}
                    </span>
                    <bdi>{names(set)}</bdi>
                    <StatusMark tone={isGood ? 'allow' : 'wait'} bare {...(!isGood && { icon: 'triangle' as const })}>
                      <bdi>{text}</bdi>
                    </StatusMark>
                  </li>
                );
              })}
            </ul>
          )}
          {weak && (
            <Note tone={weak.tone} title={weak.title}>
              <bdi>{weak.text}</bdi>{' '}
              {weak.mendsByPasskey && off === undefined && (
                <LinkButton onClick={onAddPasskey}>Add a second passkey</LinkButton>
              )}
            </Note>
          )}
        </div>
      </div>
    </Card>
  );
}
