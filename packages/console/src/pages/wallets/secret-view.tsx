import type { TargetKey } from '@custos/sdk';
import { Button } from '../../kit/button.tsx';
import { CopyButton } from '../../kit/copy-button.tsx';
import { type ExportSubject, type Opened, openExport } from './export-model.ts';
import styles from './secret-view.module.css';
import { useSecret } from './use-secret.ts';

export interface SecretViewProps {
  readonly subject: ExportSubject;
  readonly bundle: string;
  readonly target: TargetKey;
  readonly organizationId: string;
  readonly onProblem: (error: unknown) => void;
}

/** Hidden until a click, and again after a minute. Nothing is decrypted before the click. */
export function SecretView({ subject, bundle, target, organizationId, onProblem }: SecretViewProps) {
  const { value, timeLeft, wasShown, reveal, hide } = useSecret<Opened>();
  const open = (): void => {
    reveal(() => openExport(subject, bundle, target, organizationId)).catch(onProblem);
  };
  if (value === undefined) {
    return (
      <div className={styles.hidden}>
        <p>{wasShown ? 'Hidden again, and gone from this page.' : 'Hidden.'}</p>
        <Button icon="eye" onClick={open}>
          Reveal
        </Button>
      </div>
    );
  }
  return (
    <div className={styles.shown}>
      {value.kind === 'words' ? (
        <>
          <ol className={styles.words} aria-label="Words, in their order">
            {value.words.map((word, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a word can come twice; its position is what it is
              <li key={index}>{word}</li>
            ))}
          </ol>
          {value.passphrase !== '' && (
            <p>
              Passphrase: <code className={styles.key}>{value.passphrase}</code>
            </p>
          )}
        </>
      ) : (
        value.forms.map(({ label, text }) => (
          <div key={label}>
            <p className={styles.label}>{label}</p>
            <code className={styles.key}>{text}</code>
          </div>
        ))
      )}
      <div className={styles.foot}>
        <p>{timeLeft} What you copy stays in the clipboard until you copy something else.</p>
        <CopyButton
          text={value.kind === 'words' ? value.words.join(' ') : (value.forms[0]?.text ?? '')}
          label={value.kind === 'words' ? 'Copy the words' : 'Copy the key'}
          word="Copy"
        />
        <Button size="small" onClick={hide}>
          Hide
        </Button>
      </div>
    </div>
  );
}
