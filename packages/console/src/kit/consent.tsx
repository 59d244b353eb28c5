import { useEffect, useRef } from 'react';
import type { Description } from '../api/types.ts';
import { Button } from './button.tsx';
import styles from './consent.module.css';
import { Dialog } from './dialog.tsx';
import { Checkbox } from './field.tsx';
import { Hatch } from './hatch.tsx';
import type { IconName } from './icon.tsx';
import { Kbd } from './kbd.tsx';
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
}

/** Over a page: opens after a click on something that is not routine. */
export function ConsentDialog({ consent, act, icon }: ConsentDialogProps) {
  const { description, isAsked, off } = consent;
  const isOpen = isAsked && description !== undefined;
  useEffect(() => {
    if (!isOpen || off !== undefined) return;
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      consent.act();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [isOpen, off, consent]);
  if (!isOpen) return null;
  return (
    <Dialog
      open
      onClose={consent.cancel}
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
  const { risk, bytes, consequence } = description;
  return (
    <>
      <RequestWords description={description} size={size} />
      {risk === 'UNREADABLE' &&
        (consent.hasSeenBytes ? (
          <Hatch title="Nobody here can read these bytes" bytes={bytes?.unsigned ?? ''} />
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
