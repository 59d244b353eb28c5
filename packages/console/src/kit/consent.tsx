import { useEffect, useRef } from 'react';
import type { Description } from '../api/types.ts';
import { Button } from './button.tsx';
import styles from './consent.module.css';
import { Dialog } from './dialog.tsx';
import { ExactBytesList } from './exact-bytes-list.tsx';
import { Checkbox } from './field.tsx';
import type { IconName } from './icon.tsx';
import { Kbd } from './kbd.tsx';
import { Note } from './note.tsx';
import { RequestWords } from './request-words.tsx';
import type { Consent } from './use-act.ts';

/** In a dialog that has its own button: the sentence and its consequence, to be ticked. Nothing for what is routine. */
export function ConsentBox({ consent }: { readonly consent: Consent }) {
  const { description, isAsked } = consent;
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // It came up after a click: whoever clicked has to find it.
    if (isAsked) box.current?.focus();
  }, [isAsked]);
  if (description === undefined) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would need a legend besides the sentence
    <div ref={box} role="group" aria-label="Your consent" tabIndex={-1} className={styles.box}>
      <Body consent={consent} description={description} size="row" />
    </div>
  );
}

export interface ConsentDialogProps {
  readonly consent: Consent;
  /** The name of the button that asked: the one here has the same. */
  readonly act: string;
  readonly icon?: IconName;
  /** Why the page does not let it be sent, whatever is ticked. */
  readonly off?: string | undefined;
}

/** Over a page: opens after a click on something that is not routine. */
export function ConsentDialog({ consent, act, icon, ...page }: ConsentDialogProps) {
  const { description, isAsked } = consent;
  const off = page.off ?? consent.off;
  if (!isAsked || description === undefined) return null;
  return (
    <Dialog
      open
      onClose={consent.cancel}
      onCtrlEnter={() => {
        if (off === undefined) consent.act();
      }}
      title={`${act}?`}
      footer={
        <>
          <span className={styles.keys}>
            <Kbd>Ctrl</Kbd> <Kbd>Enter</Kbd>
          </span>
          <Button onClick={consent.cancel}>Cancel</Button>
          <Button kind="ink" off={off} hideReason onClick={consent.act} {...(icon && { icon })}>
            {act}
          </Button>
        </>
      }
    >
      <div className={styles.stack}>
        <Body consent={consent} description={description} size="decision" />
        {off !== undefined && <p className={styles.why}>{off}</p>}
      </div>
    </Dialog>
  );
}

interface BodyProps {
  readonly consent: Consent;
  readonly description: Description;
  readonly size: 'row' | 'decision';
}

function Body({ consent, description, size }: BodyProps) {
  const { risk, consequence } = description;
  return (
    <>
      {consent.hasChanged && (
        <Note tone="wait" role="alert" title="This reads differently than when you ticked it.">
          Your tick was taken back. Read it again before you go on.
        </Note>
      )}
      <RequestWords description={description} size={size} />
      {risk === 'UNREADABLE' &&
        (consent.hasSeenBytes ? (
          <ExactBytesList pieces={consent.pieces} isUnreadable />
        ) : (
          <div>
            <Button icon="code" onClick={consent.seeBytes}>
              Show the bytes
            </Button>
          </div>
        ))}
      <Checkbox
        checked={consent.isTicked}
        onChange={consent.tick}
        label={<bdi>{consequence ?? 'I have read what this request does. I want that.'}</bdi>}
      />
    </>
  );
}
