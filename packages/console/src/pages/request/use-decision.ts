import type { Activity, Stamper } from '@custos/sdk';
import { useEffect, useRef, useState } from 'react';
import type { Approval } from '../../api/approvals.ts';
import { connection } from '../../api/connection.ts';
import { readingOf } from '../../api/reading.ts';
import type { Description } from '../../api/types.ts';
import { type Outcome, useSubmit } from '../../api/use-submit.ts';
import type { VoteFindings } from '../../api/vote.ts';
import { announce } from '../../app/announcer.tsx';
import { useStore } from '../../lib/store.ts';
import { passkeyStamper } from '../../session/login.ts';
import { useOrganization } from '../../session/organization.ts';
import { whyNoPasskeys } from '../../session/passkeys.ts';
import { useSessionState } from '../../session/session.ts';
import type { Verb } from './confirm-dialog.tsx';
import { whyNotApprove } from './reading.ts';
import { isOpen } from './words.ts';

export interface Confirmation {
  readonly verb: Verb;
  readonly byPasskey: boolean;
  /** What follows in place of a vote by the session: the proof that was asked for. */
  readonly proof?: () => void;
}

export type VoteOutcome = Outcome<{ activity: Activity }>;

/** What a person did here, and what became of it. */
export interface Done {
  readonly verb: Verb;
  readonly outcome: VoteOutcome;
}

export interface Decision {
  /** Whether there is anything to decide for this person. */
  readonly isMine: boolean;
  readonly busy: Verb | undefined;
  /** Why nothing can be sent at all. */
  readonly offReason: string | undefined;
  readonly approveOff: string | undefined;
  readonly passkeyOff: string | undefined;
  readonly confirmation: Confirmation | undefined;
  readonly done: Done | undefined;
  /** What is decided about, as it is shown now. */
  readonly reading: string;
  readonly hasSeenBytes: boolean;
  seeBytes(): void;
  /** A click: acts at once on what is routine, and asks otherwise. */
  choose(verb: Verb, byPasskey?: boolean): void;
  /** A key: always asks first. */
  ask(verb: Verb): void;
  cancel(): void;
  act(confirmation: Confirmation): void;
  /** Goes on to a proof: at once on what is routine or was agreed to here as it reads now, and asks otherwise. */
  agree(proof: () => void): void;
  /** The next factor of this person's own approval. Asks first where the request reads differently by now. */
  prove(stamper?: Stamper): void;
  /** Sends the same bytes again. */
  repeat(): void;
}

/** Deciding about one request. Mount it anew for another. */
export function useDecision(
  { activity, progress }: Approval,
  description: Description,
  checks: { readonly data: VoteFindings | undefined; readonly isError: boolean },
): Decision {
  const approve = useSubmit('approveActivity');
  const reject = useSubmit('rejectActivity');
  const [confirmation, setConfirmation] = useState<Confirmation>();
  const [verb, setVerb] = useState<Verb>('Approve');
  const reading = readingOf(activity.fingerprint, description);
  const [seen, setSeen] = useState<string>();
  // A proof takes a while to give: what counts is what is shown when it is there.
  const shown = useRef({ reading, description });
  useEffect(() => {
    shown.current = { reading, description };
  });
  const agreed = useRef<string>(undefined);
  const { isReadOnly } = useOrganization();
  const { session } = useSessionState();
  const { lostSinceMs } = useStore(connection);

  const submit = verb === 'Approve' ? approve : reject;
  const done = submit.outcome === undefined ? undefined : { verb, outcome: submit.outcome };
  const offReason =
    lostSinceMs !== undefined
      ? 'Voting is off until the service answers.'
      : session === undefined
        ? 'Sign in again to decide.'
        : undefined;
  const approveOff =
    offReason ??
    (checks.data === undefined && checks.isError ? 'The signatures could not be read.' : whyNotApprove(checks.data));

  async function send(next: Verb, stamper?: Stamper): Promise<VoteOutcome> {
    setVerb(next);
    const { fingerprint } = activity;
    const outcome = await (next === 'Approve' ? approve : reject).submit({ fingerprint }, stamper ? { stamper } : {});
    announce(
      outcome.state === 'refused' ? outcome.problem.title : next === 'Approve' ? 'You approved.' : 'You rejected.',
    );
    return outcome;
  }
  const act = ({ verb: next, byPasskey, proof }: Confirmation): void => {
    setConfirmation(undefined);
    if (next === 'Approve') agreed.current = reading;
    if (proof === undefined) void send(next, byPasskey ? passkeyStamper() : undefined);
    else proof();
  };
  const agree = (proof: () => void): void => {
    const isRoutine = shown.current.description.risk === 'ROUTINE';
    if (isRoutine || agreed.current === shown.current.reading) proof();
    else setConfirmation({ verb: 'Approve', byPasskey: false, proof });
  };
  const isMine =
    !isReadOnly &&
    isOpen(activity.status) &&
    (progress.waitsForMe ||
      progress.authentication?.isMine === true ||
      (activity.canReject && progress.myVote === undefined));
  return {
    isMine,
    busy: approve.isBusy ? 'Approve' : reject.isBusy ? 'Reject' : undefined,
    offReason,
    approveOff,
    passkeyOff: whyNoPasskeys()?.reason,
    confirmation,
    done,
    reading,
    // Bytes that were opened for another sentence were not opened for this one.
    hasSeenBytes: seen === reading,
    seeBytes: () => setSeen(reading),
    choose(next, byPasskey = false) {
      if (description.risk === 'ROUTINE') act({ verb: next, byPasskey });
      else setConfirmation({ verb: next, byPasskey });
    },
    ask: (next) => setConfirmation({ verb: next, byPasskey: false }),
    cancel: () => setConfirmation(undefined),
    act,
    agree,
    prove: (stamper) => agree(() => void send('Approve', stamper)),
    repeat: () => void submit.repeat(),
  };
}
