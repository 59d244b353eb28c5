import type { ActivityStatus } from '@custos/sdk';
import type { CastVote, Progress } from '../../api/approvals.ts';

const CREDENTIALS: Readonly<Record<string, string>> = {
  PASSKEY: 'passkey',
  API_KEY: 'API key',
  SESSION: 'a session',
  RECOVERY: 'a recovery key',
  TOKEN: 'a login token',
};

/** "API key “server-1”", "passkey “MacBook”", "a session". */
export function credentialWords(vote: Pick<CastVote, 'credentialKind' | 'credentialName'>): string | undefined {
  const { credentialKind, credentialName } = vote;
  if (credentialKind === undefined) return undefined;
  const word = CREDENTIALS[credentialKind] ?? 'a credential';
  // Names of sessions are made by the service and say nothing more.
  const isNamed = credentialName !== undefined && (credentialKind === 'PASSKEY' || credentialKind === 'API_KEY');
  if (isNamed) return `${word} “${credentialName}”`;
  return word.startsWith('a ') ? word : `${/^[A]/.test(word) ? 'an' : 'a'} ${word}`;
}

export const isOpen = (status: ActivityStatus): boolean =>
  status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED' || status === 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED';

/** What a person's approval does. */
export function effectOfApproval(progress: Progress, type: string): string {
  if (progress.isLapsed) return 'Yours would be the first approval of a new round.';
  if (progress.completes) {
    return isSigning(type)
      ? 'Your approval completes it: it is signed at once.'
      : 'Your approval completes it: it is done at once.';
  }
  const lacking = Math.max(0, progress.required - progress.given - 1);
  if (lacking === 0) return 'Others may have to approve too.';
  return `After yours, ${lacking === 1 ? 'one more approval is' : `${lacking} more approvals are`} needed.`;
}

export const isSigning = (type: string): boolean => /_SIGN_/.test(type);

/** Who must still approve, of all ways that lead there; each once. */
export const missingWords = ({ ways }: Progress): readonly string[] => [...new Set(ways.map(({ text }) => text))];
