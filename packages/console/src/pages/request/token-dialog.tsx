import { AttestedStamper, oidcNonceOf, SessionKey, type Stamper } from '@custos/sdk';
import { useEffect, useState } from 'react';
import { useApi } from '../../api/use-api.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Fact, Facts } from '../../kit/facts.tsx';
import { TextArea } from '../../kit/field.tsx';
import { Hash } from '../../kit/hash.tsx';
import { useSessionOrThrow } from '../../session/session.ts';
import styles from './request.module.css';

export interface TokenDialogProps {
  /** The login providers that the step names; without any, each that the person has. */
  readonly providerIds: readonly string[];
  readonly onClose: () => void;
  readonly onProof: (stamper: Stamper) => void;
}

const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * A login token of the person's issuer as the proof of one step. The page asks no other origin, so the token is made
 * elsewhere, for the key that waits here.
 */
export function TokenDialog({ providerIds, onClose, onProof }: TokenDialogProps) {
  const { userId } = useSessionOrThrow();
  const [made, setMade] = useState<{ readonly key: SessionKey; readonly nonce: string }>();
  const [text, setText] = useState('');
  const [error, setError] = useState<string>();
  const { data } = useApi('getOauthProviders', { userId });
  const providers = (data?.oauthProviders ?? []).filter(
    ({ providerId }) => providerIds.length === 0 || providerIds.includes(providerId),
  );
  useEffect(() => {
    let isLeft = false;
    void (async () => {
      const key = await SessionKey.generate();
      const nonce = await oidcNonceOf(key.publicKey);
      if (!isLeft) setMade({ key, nonce });
    })();
    return () => {
      isLeft = true;
    };
  }, []);
  const confirm = (): void => {
    const oidcToken = text.trim();
    if (made === undefined) return;
    if (!TOKEN.test(oidcToken)) {
      setError('This is no token: it has three parts with dots between them.');
      return;
    }
    onProof(new AttestedStamper({ key: made.key, oidcToken }));
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title="Confirm with a login token"
      description="Let your login provider issue an OpenID token with this nonce. It proves one step of your approval."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="ink" off={text.trim() === '' && 'Paste the token first.'} hideReason onClick={confirm}>
            Confirm
          </Button>
        </>
      }
    >
      <div className={styles.stack}>
        <Facts>
          {providers.map(({ providerId, providerName, issuer }) => (
            <Fact key={providerId} label="Provider" note={<bdi>{issuer}</bdi>}>
              <bdi>{providerName}</bdi>
            </Fact>
          ))}
          {made !== undefined && (
            <Fact
              label="Nonce"
              note="It names a key that only this page has, and changes when this dialog is opened again."
            >
              <Hash value={made.nonce} what="nonce" whole />
            </Fact>
          )}
        </Facts>
        <TextArea
          label="Token"
          mono
          rows={5}
          value={text}
          onChange={(next) => {
            setText(next);
            setError(undefined);
          }}
          autoComplete="off"
          placeholder="eyJ…"
          {...(error !== undefined && { error })}
        />
      </div>
    </Dialog>
  );
}
