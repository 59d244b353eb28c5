import { Button } from './button.tsx';
import { Note } from './note.tsx';

export interface ChangedMeanwhileProps {
  /** What was changed: "list". */
  readonly what: string;
  /** What is stored now, in words. */
  readonly now: string;
  readonly onRebase: (keep: 'mine' | 'theirs') => void;
}

/** Somebody else changed what a form began from: what is stored now is said, and the person chooses. */
export function ChangedMeanwhile({ what, now, onRebase }: ChangedMeanwhileProps) {
  return (
    <Note
      tone="wait"
      role="alert"
      title={`Somebody changed this ${what} after you began.`}
      actions={
        <>
          <Button size="small" onClick={() => onRebase('mine')}>
            Keep mine
          </Button>
          <Button size="small" onClick={() => onRebase('theirs')}>
            Take theirs
          </Button>
        </>
      }
    >
      Stored now: <bdi>{now}</bdi>.
    </Note>
  );
}
