import { generateTargetKey, type TargetKey } from '@custos/sdk';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { type Problem, problemOf } from '../../api/problem.ts';
import { useSimulation } from '../../api/simulation.ts';
import { useApi } from '../../api/use-api.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { Button } from '../../kit/button.tsx';
import { ConsentBox } from '../../kit/consent.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { DialogFooter } from '../../kit/dialog-footer.tsx';
import { Note } from '../../kit/note.tsx';
import { PolicyPreview } from '../../kit/policy-preview.tsx';
import { OutcomeNote, ProblemNote } from '../../kit/problem-note.tsx';
import { SameWithLink } from '../../kit/same-with.tsx';
import { ActivityStatus } from '../../kit/status-mark.tsx';
import { useAct } from '../../kit/use-act.ts';
import { useOrganization } from '../../session/organization.ts';
import { useSessionOrThrow } from '../../session/session.ts';
import { bundleIn, EXPORTS, type ExportSubject, exportParameters } from './export-model.ts';
import { forgetExport, type HeldExport, holdExport, useHeldExport } from './held-exports.ts';
import { SecretView } from './secret-view.tsx';
import styles from './wallets.module.css';

export interface ExportDialogProps {
  readonly subject: ExportSubject;
  readonly onClose: () => void;
}

const WHAT = { wallet: 'the words', account: 'the private key', key: 'the private key' } as const;

/** Asks for an export, waits for others if it must, and opens it here. */
export function ExportDialog({ subject, onClose }: ExportDialogProps) {
  const held = useHeldExport(subject.id);
  return held === undefined ? (
    <Ask subject={subject} onClose={onClose} />
  ) : (
    <Waiting subject={subject} held={held} onClose={onClose} />
  );
}

function Ask({ subject, onClose }: ExportDialogProps) {
  const [target, setTarget] = useState<TargetKey>();
  const [done, setDone] = useState<{ readonly bundle: string; readonly target: TargetKey }>();
  const { userId } = useSessionOrThrow();
  const off = useOffReason();
  useEffect(() => {
    let isGone = false;
    void generateTargetKey().then((made) => {
      if (!isGone) setTarget(made);
    });
    return () => {
      isGone = true;
    };
  }, []);
  const { method, type } = EXPORTS[subject.kind];
  const parameters = exportParameters(subject, target?.publicKey ?? '');
  const { submit, repeat, outcome, isBusy, consent } = useAct(method, {
    current: target === undefined ? undefined : parameters,
    isEager: true,
  });
  const forecast = useSimulation(target === undefined || done !== undefined ? undefined : { type, parameters });

  const finish = async (work: ReturnType<typeof submit>): Promise<void> => {
    const became = await work;
    if (target === undefined) return;
    if (became.state === 'completed') setDone({ bundle: became.result.exportBundle, target });
    else if (became.state === 'waits') holdExport(subject.id, { activityId: became.activity.id, target, userId });
  };

  if (done !== undefined)
    return <Ready subject={subject} bundle={done.bundle} target={done.target} onClose={onClose} />;
  return (
    <Dialog
      open
      onClose={onClose}
      title={
        <>
          Export <bdi>{subject.name}</bdi>
        </>
      }
      description={`The keyring encrypts ${WHAT[subject.kind]} to a key that this tab made just now. The service, its logs and its database see only what is encrypted; this tab alone can open it. It cannot be taken back: from then on policies and approvals here no longer protect what it holds, and the mark “exported” stays for ever.`}
      footer={
        <DialogFooter>
          <SameWithLink method={method} parameters={parameters} />
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="ink"
            icon="download"
            busy={isBusy && 'Exporting…'}
            off={off ?? (target === undefined ? 'Making a key.' : consent.off)}
            onClick={() => void finish(submit(parameters as never))}
          >
            Export
          </Button>
        </DialogFooter>
      }
    >
      <div className={styles.form}>
        <PolicyPreview forecast={forecast} hint="Making a key for this export." />
        <ConsentBox consent={consent} />
        <OutcomeNote outcome={outcome} onRepeat={() => void finish(repeat())} />
      </div>
    </Dialog>
  );
}

function Waiting({ subject, held, onClose }: ExportDialogProps & { readonly held: HeldExport }) {
  const query = useApi('getActivity', { activityId: held.activityId }, { everyMs: 5_000 });
  const activity = query.data?.activity;
  const bundle = activity === undefined ? undefined : bundleIn(activity.result);
  if (bundle !== undefined) {
    return (
      <Ready
        subject={subject}
        bundle={bundle}
        target={held.target}
        onClose={() => {
          forgetExport(subject.id);
          onClose();
        }}
      />
    );
  }
  const isOver = activity?.status === 'ACTIVITY_STATUS_REJECTED' || activity?.status === 'ACTIVITY_STATUS_FAILED';
  return (
    <Dialog
      open
      onClose={onClose}
      title={
        <>
          Export <bdi>{subject.name}</bdi>
        </>
      }
      footer={
        <DialogFooter>
          <Link to="/activities/$activityId" params={{ activityId: held.activityId }}>
            See the activity
          </Link>
          <Button
            onClick={() => {
              forgetExport(subject.id);
              onClose();
            }}
          >
            {isOver ? 'Close' : 'Give up and forget the key'}
          </Button>
          {!isOver && (
            <Button kind="ink" onClick={onClose}>
              Wait here
            </Button>
          )}
        </DialogFooter>
      }
    >
      <div className={styles.form}>
        {isOver ? (
          <Note tone="deny" title="It was not exported." role="status">
            <ActivityStatus status={activity.status} />
          </Note>
        ) : (
          <Note tone="wait" icon="clock" title="Waits for approval. Keep this tab open." role="status">
            The key that opens it is in the memory of this tab alone. You may go to other pages of the console; when you
            close or reload the tab, nobody can open this export, and it has to be asked for again. Once the others have
            approved, this dialog shows it.
          </Note>
        )}
        {query.error && <ProblemNote problem={problemOf(query.error)} onRetry={() => void query.refetch()} />}
      </div>
    </Dialog>
  );
}

interface ReadyProps extends ExportDialogProps {
  readonly bundle: string;
  readonly target: TargetKey;
}

function Ready({ subject, bundle, target, onClose }: ReadyProps) {
  const { organizationId } = useOrganization();
  const [problem, setProblem] = useState<Problem>();
  return (
    <Dialog
      open
      onClose={onClose}
      isModalOnly
      title={
        <>
          Exported: <bdi>{subject.name}</bdi>
        </>
      }
      description={`It is in this browser, encrypted. Make sure that nobody else sees this screen, then reveal ${WHAT[subject.kind]}.`}
      footer={<Button onClick={onClose}>Close and forget</Button>}
    >
      <div className={styles.form}>
        <SecretView
          subject={subject}
          bundle={bundle}
          target={target}
          organizationId={organizationId}
          onProblem={(error) => setProblem(problemOf(error))}
        />
        {problem && <ProblemNote problem={problem} />}
      </div>
    </Dialog>
  );
}
