import { AttestedStamper, encryptOtpCode, fetchServiceKeys, SessionKey, type Stamper } from '@custos/sdk';
import { useState } from 'react';
import { watchedFetch } from '../../api/connection.ts';
import { problemOf } from '../../api/problem.ts';
import { useApi } from '../../api/use-api.ts';
import { useSubmit } from '../../api/use-submit.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { TextField } from '../../kit/field.tsx';
import { Note } from '../../kit/note.tsx';
import { OutcomeNote } from '../../kit/problem-note.tsx';
import { useSessionOrThrow } from '../../session/session.ts';
import styles from './request.module.css';

export type CodeChannel = 'EMAIL' | 'SMS';

export interface CodeDialogProps {
  readonly channel: CodeChannel;
  readonly onClose: () => void;
  /** Stamps one proof with the token that the code was exchanged for. */
  readonly onProof: (stamper: Stamper) => void;
}

const WORDS = {
  EMAIL: { title: 'Confirm with a code by mail', missing: 'No mail address is stored for you.' },
  SMS: { title: 'Confirm with a code by text message', missing: 'No phone number is stored for you.' },
} as const;

/** A code that has been sent, and the key that its proof will be bound to. */
interface Sent {
  readonly otpId: string;
  readonly targetBundle: string;
  readonly key: SessionKey;
}

/** A code goes to the person's contact; typed here, it becomes the proof of one step. */
export function CodeDialog({ channel, onClose, onProof }: CodeDialogProps) {
  const { userId } = useSessionOrThrow();
  const user = useApi('getUser', { userId });
  const init = useSubmit('initOtp');
  const verify = useSubmit('verifyOtp');
  const [sent, setSent] = useState<Sent>();
  const [code, setCode] = useState('');
  const [error, setError] = useState<string>();
  const contact = channel === 'EMAIL' ? user.data?.user.userEmail : user.data?.user.userPhoneNumber;
  const { title, missing } = WORDS[channel];

  async function send(): Promise<void> {
    if (contact === undefined) return;
    setError(undefined);
    verify.reset();
    setCode('');
    await takeSent(await init.submit({ otpType: `OTP_TYPE_${channel}`, contact, appName: 'Custos' }));
  }
  /** Also of what was sent again: the answer counts, whichever attempt brought it. */
  async function takeSent(outcome: Awaited<ReturnType<typeof init.submit>>): Promise<void> {
    if (outcome.state !== 'completed') return;
    const { otpId, otpEncryptionTargetBundle } = outcome.result;
    setSent({ otpId, targetBundle: otpEncryptionTargetBundle, key: await SessionKey.generate() });
  }
  async function confirm({ otpId, targetBundle, key }: Sent): Promise<void> {
    setError(undefined);
    try {
      const serviceKeys = await fetchServiceKeys(location.origin, { fetch: watchedFetch });
      const otpCode = code.replaceAll(/\s/g, '');
      const { publicKey } = key;
      const encryptedOtpBundle = await encryptOtpCode({ targetBundle, otpCode, publicKey, serviceKeys });
      takeProof(key, await verify.submit({ otpId, encryptedOtpBundle }));
    } catch (failure) {
      setError(problemOf(failure).text);
    }
  }
  function takeProof(key: SessionKey, outcome: Awaited<ReturnType<typeof verify.submit>>): void {
    if (outcome.state !== 'completed') return;
    onProof(new AttestedStamper({ key, verificationToken: outcome.result.verificationToken }));
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      description="The code proves one step of your approval, and nothing else."
      width="small"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          {sent === undefined ? (
            <Button
              kind="ink"
              busy={init.isBusy && 'Sending…'}
              off={contact === undefined && (user.isPending ? 'Your contact is being looked up.' : missing)}
              hideReason
              onClick={() => void send()}
            >
              Send a code
            </Button>
          ) : (
            <Button
              kind="ink"
              busy={verify.isBusy && 'Confirming…'}
              off={code.trim() === '' && 'Type the code first.'}
              hideReason
              onClick={() => void confirm(sent)}
            >
              Confirm
            </Button>
          )}
        </>
      }
    >
      <div className={styles.stack}>
        {contact === undefined ? (
          user.data !== undefined && (
            <Note tone="wait" title={missing}>
              Somebody who may change users can add it under People.
            </Note>
          )
        ) : (
          <p>
            {sent === undefined ? 'A code will be sent to ' : 'A code was sent to '}
            <b>
              <bdi>{contact}</bdi>
            </b>
            .
          </p>
        )}
        {init.outcome?.state === 'refused' && init.outcome.problem.kind === 'denied' ? (
          <Note tone="deny" icon="cross-circle" role="alert" title="The rules here do not let you ask for a code.">
            {init.outcome.problem.text} A policy can allow it for the resource OTP.
          </Note>
        ) : (
          init.outcome?.state !== 'completed' && (
            <OutcomeNote outcome={init.outcome} onRepeat={() => void init.repeat().then(takeSent)} />
          )
        )}
        {sent !== undefined && (
          <>
            <TextField
              label="Code"
              mono
              value={code}
              onChange={setCode}
              autoComplete="one-time-code"
              {...(error !== undefined && { error })}
            />
            {verify.outcome?.state !== 'completed' && (
              <OutcomeNote
                outcome={verify.outcome}
                onRepeat={() => void verify.repeat().then((outcome) => takeProof(sent.key, outcome))}
              />
            )}
            <div>
              <Button size="small" kind="quiet" busy={init.isBusy && 'Sending…'} onClick={() => void send()}>
                Send another code
              </Button>
            </div>
          </>
        )}
      </div>
    </Dialog>
  );
}
