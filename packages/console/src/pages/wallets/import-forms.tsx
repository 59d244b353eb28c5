import { type ReactNode, useRef, useState } from 'react';
import { type Problem, problemOf } from '../../api/problem.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { Button } from '../../kit/button.tsx';
import { ConsentBox } from '../../kit/consent.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { DialogFooter } from '../../kit/dialog-footer.tsx';
import { TextArea, TextField } from '../../kit/field.tsx';
import { fieldProblem, OutcomeNote, ProblemNote } from '../../kit/problem-note.tsx';
import { SameWithLink } from '../../kit/same-with.tsx';
import { Segmented } from '../../kit/segmented.tsx';
import { type Consent, useAct } from '../../kit/use-act.ts';
import { accountOf, type Curve } from '../../lib/chains.ts';
import { useOrganization } from '../../session/organization.ts';
import { useSessionOrThrow } from '../../session/session.ts';
import { useSessionEnd } from '../../session/use-session-end.ts';
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
  const { organizationId } = useOrganization();
  const { userId } = useSessionOrThrow();
  const field = useRef<HTMLInputElement>(null);
  const forget = (): void => {
    setWords('');
    setPassphrase('');
    setIsTried(false);
  };
  useSessionEnd(forget);
  const wrong = wordsProblem(words);
  const parametersWith = (encryptedBundle: string) => ({
    userId,
    walletName: name.trim(),
    encryptedBundle,
    accounts: presetsOf(chains).map((preset) => accountOf(preset)),
  });
  const described = parametersWith(SEALED);
  const { send, grants, repeat, outcome, isBusy, consent } = useAct('importWallet', { current: described });
  const finish = async (work: ReturnType<typeof send>): Promise<void> => {
    const done = await work;
    if (done.state === 'completed') onDone(done.result.walletId);
  };
  const act = async (): Promise<void> => {
    setIsTried(true);
    setProblem(undefined);
    if (name.trim() === '' || wrong !== undefined) return;
    // Agreed to before the words are sealed: what is sealed is sent at once.
    if (!(await grants(described))) return;
    try {
      const sealed = await sealWords({ importBundle, organizationId, userId }, words, passphrase);
      // From here on only what is sealed exists: sending it again needs no words.
      forget();
      await finish(send(parametersWith(sealed)));
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
      parameters={described}
      label="Import wallet"
      isBusy={isBusy}
      consent={consent}
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
  const { organizationId } = useOrganization();
  const { userId } = useSessionOrThrow();
  const field = useRef<HTMLInputElement>(null);
  const forget = (): void => {
    setKey('');
    setIsTried(false);
  };
  useSessionEnd(forget);
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
  const described = parametersWith(SEALED);
  const { send, grants, repeat, outcome, isBusy, consent } = useAct('importPrivateKey', { current: described });
  const finish = async (work: ReturnType<typeof send>): Promise<void> => {
    if ((await work).state === 'completed') onDone();
  };
  const act = async (): Promise<void> => {
    setIsTried(true);
    setProblem(undefined);
    if (name.trim() === '' || wrong !== undefined) return;
    if (!(await grants(described))) return;
    try {
      const sealed = await sealKey({ importBundle, organizationId, userId }, key, curve);
      forget();
      await finish(send(parametersWith(sealed)));
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
      parameters={described}
      label="Import key"
      isBusy={isBusy}
      consent={consent}
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
  readonly consent: Consent;
  readonly isOver: boolean;
  readonly onAct: () => void;
  readonly children: ReactNode;
}

function Frame(props: FrameProps) {
  const { title, choice, initialFocus, onClose, method, parameters, label, isBusy, consent, isOver, onAct, children } =
    props;
  const off = useOffReason();
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      initialFocus={initialFocus}
      footer={
        <DialogFooter>
          <SameWithLink method={method} parameters={parameters} />
          <Button onClick={onClose}>{isOver ? 'Close' : 'Cancel'}</Button>
          {!isOver && (
            <Button kind="ink" busy={isBusy && 'Importing…'} off={off ?? consent.off} onClick={onAct}>
              {label}
            </Button>
          )}
        </DialogFooter>
      }
    >
      <div className={styles.form}>
        <div>{choice}</div>
        {children}
        {!isOver && <ConsentBox consent={consent} />}
      </div>
    </Dialog>
  );
}
