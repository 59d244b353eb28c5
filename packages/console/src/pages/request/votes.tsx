import { Link } from '@tanstack/react-router';
import type { CastVote, Progress } from '../../api/approvals.ts';
import type { VoteCheck, VoteFindings } from '../../api/vote.ts';
import { Avatar } from '../../kit/avatar.tsx';
import { Card } from '../../kit/card.tsx';
import { Fact, Facts } from '../../kit/facts.tsx';
import { LimitBar } from '../../kit/limit-bar.tsx';
import { Note } from '../../kit/note.tsx';
import { Seal } from '../../kit/seal.tsx';
import { StatusMark } from '../../kit/status-mark.tsx';
import { Time } from '../../kit/time.tsx';
import { listInWords } from '../../lib/text.ts';
import { useSessionOrThrow } from '../../session/session.ts';
import type { LimitUse } from './moved.ts';
import styles from './request.module.css';
import { credentialWords, missingWords } from './words.ts';

/** What was found about the vote with this id; undefined while it is checked. */
export const checkOf = (checks: VoteFindings | undefined, voteId: string): VoteCheck | undefined =>
  checks?.votes.find(({ vote }) => vote.id === voteId)?.check;

const hasUnverified = (checks: VoteFindings | undefined): boolean =>
  checks?.votes.some(({ check }) => check === 'not-verified') ?? false;

/** Verified means: checked in this browser. Nothing else is called so. */
export function CheckMark({ check }: { readonly check: VoteCheck | undefined }) {
  if (check === undefined)
    return (
      <StatusMark tone="plain" icon={false}>
        not checked yet
      </StatusMark>
    );
  if (check === 'verified')
    return (
      <StatusMark tone="allow" icon="check">
        signature verified here
      </StatusMark>
    );
  if (check === 'not-verified') return <StatusMark tone="deny">not verified</StatusMark>;
  return (
    <StatusMark tone="plain" icon="question">
      not checkable here:{' '}
      {check === 'secret-left-out' ? 'a secret is left out' : 'this browser does not know its kind of signature'}
    </StatusMark>
  );
}

/** A signature that does not fit is louder than everything else. */
export function UnverifiedNote({
  votes,
  checks,
}: {
  readonly votes: readonly CastVote[];
  readonly checks: VoteFindings | undefined;
}) {
  const bad = votes.filter(({ voteId }) => checkOf(checks, voteId) === 'not-verified');
  if (checks?.request.state === 'contradicted') {
    return (
      <Note tone="deny" role="alert" title="The stored request is not the one that the fingerprint names.">
        An approval would cover something else than what is shown here. Do not approve; tell whoever runs this service.
      </Note>
    );
  }
  if (!hasUnverified(checks)) return null;
  const names = listInWords([...new Set(bad.map(({ userName }) => userName))]);
  return (
    <Note
      tone="deny"
      role="alert"
      title={
        <>
          <bdi>{names === '' ? 'A vote' : names}</bdi>: not verified.
        </>
      }
    >
      The signature does not fit the stored message. Do not approve; tell whoever runs this service.
    </Note>
  );
}

export interface WhyAskedProps {
  readonly progress: Progress;
  /** Limits that count this request. */
  readonly limits?: readonly LimitUse[];
}

/** Which policies ask, how far each way is, who is missing, and what limits are left. */
export function WhyAsked({ progress, limits = [] }: WhyAskedProps) {
  if (progress.ways.length === 0) return null;
  return (
    <Card title={progress.waitsForMe ? 'Why you are asked' : 'Who is asked'}>
      <ul className={styles.ways}>
        {progress.ways.map((way, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: ways have no ids of their own
          <li key={index} className={styles.way}>
            <Seal given={way.given} required={way.required ?? way.given + 1} size={40} />
            <div className={styles.wayText}>
              <p>
                {way.kind === 'ROOT_QUORUM' ? (
                  <b>Root quorum{way.required !== undefined && `, ${way.required} must agree`}</b>
                ) : (
                  <Link
                    to="/policies/$policyId"
                    params={{ policyId: way.policyId ?? '' }}
                    className={styles.strongLink}
                  >
                    <bdi>{way.policyName ?? 'A policy'}</bdi>
                  </Link>
                )}
              </p>
              <p className={styles.wayMissing}>
                {way.given > 0 && <Asked progress={progress} />} {stopped(way.text)}
              </p>
            </div>
          </li>
        ))}
      </ul>
      {limits.map(({ id, name, isExceeded, ...limit }) => (
        <div key={id} className={styles.limit}>
          <LimitBar
            label={
              <>
                Limit “<bdi>{name}</bdi>”
              </>
            }
            {...limit}
          />
          {isExceeded && (
            <StatusMark tone="deny" icon="triangle" bare>
              Above the limit: only the root quorum can exceed it
            </StatusMark>
          )}
        </div>
      ))}
    </Card>
  );
}

/** "Payout bot has asked." */
function Asked({ progress }: { readonly progress: Progress }) {
  const { userId } = useSessionOrThrow();
  const approved = progress.votes.filter(({ selection }) => selection === 'APPROVED');
  if (approved.length === 0) return null;
  const names = [...new Set(approved.map((vote) => (vote.userId === userId ? 'you' : vote.userName)))];
  const verb = names.length > 1 || names[0] === 'you' ? 'have' : 'has';
  return (
    <>
      <bdi>{capital(listInWords(names))}</bdi> {verb} approved.
    </>
  );
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const stopped = (text: string): string => (text === '' || /[.!?]$/.test(text) ? text : `${text}.`);

export interface WhoDecidesProps {
  readonly progress: Progress;
  readonly checks: VoteFindings | undefined;
}

/** Every vote, with what this browser found about its signature. */
export function WhoDecides({ progress, checks }: WhoDecidesProps) {
  const { votes, ways } = progress;
  const isRootAlone = ways.length > 0 && ways.every(({ kind }) => kind === 'ROOT_QUORUM');
  const missing = missingWords(progress).map((text) => text.replace(/^Missing: /, ''));
  return (
    <Card title="Who decides">
      <Facts>
        {isRootAlone && <Fact label="Decided by">The root quorum alone.</Fact>}
        {votes.map((vote, index) => (
          <Fact
            key={vote.voteId}
            label={vote.selection === 'REJECTED' ? 'Rejected' : index === 0 ? 'Asked' : 'Approved'}
            note={<CameFrom vote={vote} />}
          >
            <span className={styles.voter}>
              <Avatar name={vote.userName} isProgram={vote.isProgram} size={22} />
              <bdi>{vote.userName}</bdi>
              <CheckMark check={checkOf(checks, vote.voteId)} />
            </span>
          </Fact>
        ))}
        {missing.length > 0 && <Fact label="Missing">{missing.join('; or ')}</Fact>}
      </Facts>
    </Card>
  );
}

export function CameFrom({ vote }: { readonly vote: CastVote }) {
  const credential = credentialWords(vote);
  return (
    <>
      <Time time={vote.at} />
      {credential !== undefined && (
        <>
          {' '}
          with <bdi>{credential}</bdi>
        </>
      )}
      {vote.sourceAddress !== undefined && (
        <>
          {' '}
          from <code>{vote.sourceAddress}</code>
        </>
      )}
    </>
  );
}
