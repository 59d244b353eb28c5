import { useState } from 'react';
import type { ExactPiece } from '../../api/exact-bytes.ts';
import type { Description } from '../../api/types.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { ExactBytesList } from '../../kit/exact-bytes-list.tsx';
import { Checkbox } from '../../kit/field.tsx';
import { Kbd } from '../../kit/kbd.tsx';
import { Note } from '../../kit/note.tsx';
import { RequestWords } from '../../kit/request-words.tsx';
import styles from './request.module.css';

export type Verb = 'Approve' | 'Reject';

export interface ConfirmDialogProps {
  readonly verb: Verb;
  readonly description: Description;
  /** What is before the eyes: a tick stands for this and nothing else. */
  readonly reading: string;
  /** The exact bytes of the request, whole. */
  readonly pieces: readonly ExactPiece[];
  /** Whether the bytes were looked at already. */
  readonly hasSeenBytes: boolean;
  readonly onSeeBytes: () => void;
  readonly onAct: () => void;
  readonly onClose: () => void;
  /** Why the act is off; undefined where it is not. */
  readonly off?: string | undefined;
  readonly byPasskey: boolean;
}

/** Friction follows danger: what is not routine takes a ticked sentence, what nobody can read also opened bytes. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { verb, description, reading, pieces, hasSeenBytes, onSeeBytes, onAct, onClose, byPasskey } = props;
  const { risk, consequence } = description;
  const [first] = useState(reading);
  const [ticked, setTicked] = useState<string>();
  const isTicked = ticked === reading;
  const hasChanged = reading !== first;
  // Whoever was about to decide about something else decides anew, with a tick.
  const needsTick = risk !== 'ROUTINE' || hasChanged;
  const needsBytes = risk === 'UNREADABLE' && verb === 'Approve';
  const off =
    props.off ??
    (needsBytes && pieces.length === 0
      ? 'The bytes of this request are not here, and nobody can read it.'
      : needsBytes && !hasSeenBytes
        ? 'Open the bytes first.'
        : needsTick && !isTicked
          ? 'Tick the sentence first.'
          : undefined);

  return (
    <Dialog
      open
      onClose={onClose}
      onCtrlEnter={() => {
        if (off === undefined) onAct();
      }}
      title={verb === 'Approve' ? 'Approve this request?' : 'Reject this request?'}
      footer={
        <>
          <span className={styles.dialogKeys}>
            <Kbd>Ctrl</Kbd> <Kbd>Enter</Kbd>
          </span>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="ink" off={off} hideReason onClick={onAct} {...(byPasskey && { icon: 'passkey' as const })}>
            {verb}
          </Button>
        </>
      }
    >
      <div className={styles.stack}>
        {hasChanged && (
          <Note tone="wait" role="alert" title="This request reads differently than when you opened this.">
            Your tick was taken back. Read it again before you decide.
          </Note>
        )}
        <RequestWords description={description} size="decision" />
        {needsBytes && pieces.length > 0 && <BytesFirst pieces={pieces} isOpen={hasSeenBytes} onOpen={onSeeBytes} />}
        {needsTick && (
          <Checkbox
            checked={isTicked}
            onChange={(isOn) => setTicked(isOn ? reading : undefined)}
            label={
              verb === 'Reject'
                ? 'One rejection is final: nobody can approve this request afterwards. I want that.'
                : (consequence ?? 'I have read what this request does. I want that.')
            }
          />
        )}
        {off !== undefined && <p className={styles.grey}>{off}</p>}
      </div>
    </Dialog>
  );
}

interface BytesFirstProps {
  readonly pieces: readonly ExactPiece[];
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}

function BytesFirst({ pieces, isOpen, onOpen }: BytesFirstProps) {
  if (isOpen) return <ExactBytesList pieces={pieces} isUnreadable />;
  return (
    <div>
      <Button icon="code" onClick={onOpen}>
        Show the bytes
      </Button>
    </div>
  );
}
