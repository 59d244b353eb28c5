import { nameOf } from '../../describe/names.ts';
import type { SentenceContext } from '../../describe/sentence.ts';
import { named, say, type TextPart } from '../../describe/text.ts';
import { durationText } from '../../describe/values.ts';

interface SessionTerms {
  readonly userId?: string | undefined;
  readonly by?: string;
  readonly expirationSeconds?: string | undefined;
  readonly invalidateExisting?: boolean | undefined;
  readonly sessionProfileId?: string | undefined;
}

/** `Open a session for Ada, for 15 minutes, and end all others.` */
export function sessionSentence({ names, proposerId }: SentenceContext, terms: SessionTerms): readonly TextPart[] {
  const { by, expirationSeconds, invalidateExisting, sessionProfileId } = terms;
  const userId = terms.userId ?? (by === undefined ? proposerId : undefined);
  const user = userId === undefined ? undefined : names.get('user', userId);
  const who = user === undefined ? say`` : say` for ${named(user.name)}`;
  const how = by === undefined ? say`` : say` with ${by}`;
  const profile =
    sessionProfileId === undefined || sessionProfileId === ''
      ? say``
      : say`, within the profile ${nameOf(names, 'sessionProfile', sessionProfileId)}`;
  const span = expirationSeconds === undefined ? say`` : say`, for ${durationText(Number(expirationSeconds))}`;
  const ends = invalidateExisting === true ? ', and end the ones before it' : '';
  return say`Open a session${who}${how}${profile}${span}${ends}.`;
}
