import { useEffect, useState } from 'react';
import type { Description } from '../../api/types.ts';
import { Address } from '../../kit/address.tsx';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Checkbox } from '../../kit/field.tsx';
import { Hatch } from '../../kit/hatch.tsx';
import { Kbd } from '../../kit/kbd.tsx';
import { RiskMark } from '../../kit/risk-mark.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import styles from './request.module.css';

export type Verb = 'Approve' | 'Reject';

export interface ConfirmDialogProps {
  readonly verb: Verb;
  readonly description: Description;
  readonly fingerprint: string;
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
  const { verb, description, fingerprint, hasSeenBytes, onSeeBytes, onAct, onClose, byPasskey } = props;
  const { risk, consequence, recipients } = description;
  const [isTicked, setIsTicked] = useState(false);
  const needsTick = risk !== 'ROUTINE';
  const needsBytes = risk === 'UNREADABLE' && verb === 'Approve';
  const off =
    props.off ??
    (needsBytes && !hasSeenBytes
      ? 'Open the bytes first.'
      : needsTick && !isTicked
        ? 'Tick the sentence first.'
        : undefined);

  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || off !== undefined) return;
      event.preventDefault();
      onAct();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [off, onAct]);

  return (
    <Dialog
      open
      onClose={onClose}
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
        <Sentence as="p" size="decision" parts={description.sentence} />
        {description.marks.map((mark) => (
          <div key={mark.text}>
            <RiskMark risk={mark.risk} text={mark.text} />
          </div>
        ))}
        {recipients.slice(0, 4).map(({ address }) => (
          <Address key={address} address={address} shape="decision" oneLine />
        ))}
        {needsBytes && (
          <BytesFirst description={description} fingerprint={fingerprint} isOpen={hasSeenBytes} onOpen={onSeeBytes} />
        )}
        {needsTick && (
          <Checkbox
            checked={isTicked}
            onChange={setIsTicked}
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
  readonly description: Description;
  readonly fingerprint: string;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}

function BytesFirst({ description, fingerprint, isOpen, onOpen }: BytesFirstProps) {
  if (!isOpen)
    return (
      <div>
        <Button icon="code" onClick={onOpen}>
          Show the bytes
        </Button>
      </div>
    );
  const { bytes } = description;
  return (
    <Hatch title="Nobody here can read these bytes" bytes={bytes?.unsigned ?? fingerprint.replace(/^sha256:/, '')} />
  );
}
