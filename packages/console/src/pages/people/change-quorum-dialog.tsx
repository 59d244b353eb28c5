import { useState } from 'react';
import { ActDialog } from '../../kit/act-dialog.tsx';
import { Avatar } from '../../kit/avatar.tsx';
import { ChangedMeanwhile } from '../../kit/changed-meanwhile.tsx';
import { Checkbox, TextField } from '../../kit/field.tsx';
import { Note } from '../../kit/note.tsx';
import { QuorumRing } from '../../kit/quorum-ring.tsx';
import type { UserSummary } from './credentials-in-words.ts';
import styles from './people.module.css';

export interface ChangeQuorumDialogProps {
  readonly threshold: number;
  readonly userIds: readonly string[];
  readonly users: readonly Pick<UserSummary, 'userId' | 'userName' | 'isProgram'>[];
  readonly onClose: () => void;
}

/** Whoever is in it can do everything, so the consequence shows as soon as it is chosen. */
export function ChangeQuorumDialog({ threshold, userIds, users, onClose }: ChangeQuorumDialogProps) {
  const [base, setBase] = useState({ threshold, userIds });
  const [chosen, setChosen] = useState<readonly string[]>(userIds);
  const [text, setText] = useState(String(threshold));
  const isOld = !isSameQuorum(base, { threshold, userIds });
  const rebase = (keep: 'mine' | 'theirs'): void => {
    setBase({ threshold, userIds });
    if (keep === 'mine') return;
    setChosen(userIds);
    setText(String(threshold));
  };
  const number = Number(text);
  const isNumber = /^[0-9]{1,3}$/.test(text) && number >= 1 && number <= chosen.length;
  const isSame = isSameQuorum({ threshold: number, userIds: chosen }, { threshold, userIds });
  const people = users.filter(({ userId }) => chosen.includes(userId));
  return (
    <ActDialog
      method="updateRootQuorum"
      parameters={{ threshold: isNumber ? number : threshold, userIds: [...chosen] }}
      title="Change the root quorum"
      description="Who is in it can do everything together: no policy binds them. The quorum of today has to agree to the change."
      act="Change the quorum"
      acting="Changing…"
      off={
        isOld
          ? 'Choose between the two changes first.'
          : chosen.length === 0
            ? 'Choose somebody.'
            : !isNumber
              ? `Choose a number from 1 to ${chosen.length}.`
              : isSame && 'Nothing is changed yet.'
      }
      isEager
      onClose={onClose}
    >
      {isOld && (
        <ChangedMeanwhile
          what="quorum"
          now={`${threshold} of ${users
            .filter(({ userId }) => userIds.includes(userId))
            .map(({ userName }) => userName)
            .join(', ')}`}
          onRebase={rebase}
        />
      )}
      <div className={styles.ring}>
        <QuorumRing size="small" threshold={isNumber ? number : 0} people={people} tone={isSame ? 'ink' : 'deny'} />
      </div>
      <fieldset className={styles.pick}>
        <legend className={styles.legend}>Root users</legend>
        <div className={styles.scrolls}>
          {users.map(({ userId, userName, isProgram }) => (
            <Checkbox
              key={userId}
              checked={chosen.includes(userId)}
              onChange={(isChosen) =>
                setChosen(isChosen ? [...chosen, userId] : chosen.filter((other) => other !== userId))
              }
              label={
                <span className={styles.faces}>
                  <Avatar name={userName} isProgram={isProgram} size={22} /> <bdi>{userName}</bdi>
                </span>
              }
            />
          ))}
        </div>
      </fieldset>
      <TextField
        label="How many must agree"
        inputMode="numeric"
        value={text}
        onChange={setText}
        error={!isNumber && chosen.length > 0 ? `From 1 to ${chosen.length}.` : undefined}
      />
      {isNumber && number === chosen.length && number > 1 && (
        <Note tone="wait" title="All of them must agree.">
          If one loses every credential, nothing can be done any more.
        </Note>
      )}
    </ActDialog>
  );
}

interface Quorum {
  readonly threshold: number;
  readonly userIds: readonly string[];
}

const isSameQuorum = (one: Quorum, other: Quorum): boolean =>
  one.threshold === other.threshold &&
  one.userIds.length === other.userIds.length &&
  one.userIds.every((userId) => other.userIds.includes(userId));
