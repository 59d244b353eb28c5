import { type ReactNode, useRef, useState } from 'react';
import { type Problem, problemOf } from '../../api/problem.ts';
import { useSubmit } from '../../api/use-submit.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { TextArea, TextField } from '../../kit/field.tsx';
import { fieldProblem, OutcomeNote, ProblemNote } from '../../kit/problem-note.tsx';
import { SameWithLink } from '../../kit/same-with.tsx';
import { Segmented } from '../../kit/segmented.tsx';
import { accountOf, type Curve } from '../../lib/chains.ts';
import { useOrganization } from '../../session/organization.ts';
import { useSessionOrThrow } from '../../session/session.ts';
import { ChainPicker, presetsOf } from './chain-picker.tsx';
import { CURVES } from './create-key-dialog.tsx';
import { keyProblem, sealKey, sealWords, wordsIn, wordsProblem } from './import-model.ts';
import styles from './wallets.module.css';

export interface ImportFormProps {
  readonly importBundle: string;
  readonly choice: ReactNode;
  readonly onClose: () => void;
  readonly onDone: (walletId?: string) => void;
}

const SEALED = 'SEALED_TO_THE_KEYRING';

export function ImportWordsForm({ importBundle, choice, onClose, onDone }: ImportFormProps) {
  const [name, setName] = useState('');
  const [words, setWords] = useState('');
  const [passphrase, setPassphrase] = useState('');
  const [chains, setChains] = useState<readonly string[]>(['ethereum']);
  const [isTried, setIsTried] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const { submit, repeat, outcome, isBusy } = useSubmit('importWallet');
  const { organizationId } = useOrganization();
  const { userId } = useSessionOrThrow();
  const field = useRef<HTMLInputElement>(null);
  const forget = (): void => {
    setWords('');
    setPassphrase('');
  };
  const wrong = wordsProblem(words);
  const parametersWith = (encryptedBundle: string) => ({
    userId,
    walletName: name.trim(),
    encryptedBundle,
    accounts: presetsOf(chains).map((preset) => accountOf(preset)),
  });
  const finish = async (work: ReturnType<typeof submit>): Promise<void> => {
    const done = await work;
    if (done.state === 'completed') onDone(done.result.walletId);
  };
  const act = async (): Promise<void> => {
    setIsTried(true);
    setProblem(undefined);
    if (name.trim() === '' || wrong !== undefined) return;
    try {
      const sealed = await sealWords({ importBundle, organizationId, userId }, words, passphrase);
      // From here on only what is sealed exists: sending it again needs no words.
      forget();
      setIsTried(false);
      await finish(submit(parametersWith(sealed)));
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <Frame
      title="Import words"
      choice={choice}
      initialFocus={field}
      onClose={onClose}
      method="importWallet"
      parameters={parametersWith(SEALED)}
      label="Import wallet"
      isBusy={isBusy}
      isOver={outcome?.state === 'waits'}
      onAct={() => void act()}
    >
      <TextField
        ref={field}
        label="Name"
        value={name}
        onChange={setName}
        maxLength={255}
        error={
          fieldProblem(outcome, 'walletName') ?? (isTried && name.trim() === '' ? 'Give the wallet a name.' : undefined)
        }
      />
      <TextArea
        label="Words"
        mono
        rows={4}
        autoComplete="off"
        autoCapitalize="none"
        value={words}
        onChange={setWords}
        error={isTried ? wrong : undefined}
        help={
          words === ''
            ? 'They stay in this field until they are sealed, and are cleared then.'
            : `${wordsIn(words).length} words. The keyring checks them against the list and their checksum.`
        }
      />
      <TextField
        label="Passphrase"
        hint="if there is one"
        type="password"
        autoComplete="new-password"
        value={passphrase}
        onChange={setPassphrase}
      />
      <ChainPicker chosen={chains} onChange={setChains} />
      {problem && <ProblemNote problem={problem} />}
      <OutcomeNote outcome={outcome} onRepeat={() => void finish(repeat())} />
    </Frame>
  );
}

export function ImportKeyForm({ importBundle, choice, onClose, onDone }: ImportFormProps) {
  const [name, setName] = useState('');
  const [key, setKey] = useState('');
  const [curve, setCurve] = useState<Curve>('CURVE_SECP256K1');
  const [chains, setChains] = useState<readonly string[]>(['ethereum']);
  const [isTried, setIsTried] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const { submit, repeat, outcome, isBusy } = useSubmit('importPrivateKey');
  const { organizationId } = useOrganization();
  const { userId } = useSessionOrThrow();
  const field = useRef<HTMLInputElement>(null);
  const wrong = keyProblem(key, curve);
  const formats = presetsOf(chains)
    .filter((preset) => preset.curve === curve)
    .map(({ addressFormat }) => addressFormat);
  const parametersWith = (encryptedBundle: string) => ({
    userId,
    privateKeyName: name.trim(),
    encryptedBundle,
    curve,
    addressFormats: formats.length > 0 ? formats : (['ADDRESS_FORMAT_COMPRESSED'] as const).slice(),
  });
  const finish = async (work: ReturnType<typeof submit>): Promise<void> => {
    if ((await work).state === 'completed') onDone();
  };
  const act = async (): Promise<void> => {
    setIsTried(true);
    setProblem(undefined);
    if (name.trim() === '' || wrong !== undefined) return;
    try {
      const sealed = await sealKey({ importBundle, organizationId, userId }, key, curve);
      setKey('');
      setIsTried(false);
      await finish(submit(parametersWith(sealed)));
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <Frame
      title="Import a private key"
      choice={choice}
      initialFocus={field}
      onClose={onClose}
      method="importPrivateKey"
      parameters={parametersWith(SEALED)}
      label="Import key"
      isBusy={isBusy}
      isOver={outcome?.state === 'waits'}
      onAct={() => void act()}
    >
      <TextField
        ref={field}
        label="Name"
        value={name}
        onChange={setName}
        maxLength={255}
        error={
          fieldProblem(outcome, 'privateKeyName') ??
          (isTried && name.trim() === '' ? 'Give the key a name.' : undefined)
        }
      />
      <div className={styles.group}>
        <span className={styles.legend}>Curve</span>
        <div>
          <Segmented
            label="Curve"
            items={CURVES}
            value={curve}
            onChange={(next) => {
              setCurve(next);
              setChains(next === 'CURVE_ED25519' ? ['solana'] : next === 'CURVE_SECP256K1' ? ['ethereum'] : []);
            }}
          />
        </div>
      </div>
      <TextField
        label="Private key"
        type="password"
        autoComplete="new-password"
        mono
        value={key}
        onChange={setKey}
        error={isTried ? wrong : undefined}
        help="It stays in this field until it is sealed, and is cleared then."
      />
      {curve !== 'CURVE_P256' && <ChainPicker chosen={chains} curve={curve} onChange={setChains} />}
      {problem && <ProblemNote problem={problem} />}
      <OutcomeNote outcome={outcome} onRepeat={() => void finish(repeat())} />
    </Frame>
  );
}

interface FrameProps {
  readonly title: string;
  readonly choice: ReactNode;
  readonly initialFocus: React.RefObject<HTMLInputElement | null>;
  readonly onClose: () => void;
  readonly method: string;
  readonly parameters: object;
  readonly label: string;
  readonly isBusy: boolean;
  readonly isOver: boolean;
  readonly onAct: () => void;
  readonly children: ReactNode;
}

function Frame(props: FrameProps) {
  const { title, choice, initialFocus, onClose, method, parameters, label, isBusy, isOver, onAct, children } = props;
  const off = useOffReason();
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      initialFocus={initialFocus}
      footer={
        <div className={styles.footer}>
          <SameWithLink method={method} parameters={parameters} />
          <Button onClick={onClose}>{isOver ? 'Close' : 'Cancel'}</Button>
          {!isOver && (
            <Button kind="ink" busy={isBusy && 'Importing…'} off={off} onClick={onAct}>
              {label}
            </Button>
          )}
        </div>
      }
    >
      <div className={styles.form}>
        <div>{choice}</div>
        {children}
      </div>
    </Dialog>
  );
}
