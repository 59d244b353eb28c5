import { type Names, nameOf, namesOf } from '../../describe/names.ts';
import { danger, lookClosely, type Sentence, type SentenceContext } from '../../describe/sentence.ts';
import { counted, listOf, named, say, type TextPart } from '../../describe/text.ts';

interface NewUser {
  readonly userName: string;
  readonly userTags: readonly string[];
  readonly apiKeys: readonly unknown[];
  readonly authenticators?: readonly unknown[];
  readonly oauthProviders?: readonly unknown[];
}

/** `Ada with 1 passkey and the tags Officers`. */
export function newUserPart(names: Names, user: NewUser): readonly TextPart[] {
  const { userName, userTags, apiKeys, authenticators = [], oauthProviders = [] } = user;
  const has = [
    ...(apiKeys.length === 0 ? [] : [counted(apiKeys.length, 'API key')]),
    ...(authenticators.length === 0 ? [] : [counted(authenticators.length, 'passkey')]),
    ...(oauthProviders.length === 0 ? [] : [counted(oauthProviders.length, 'login')]),
  ];
  const tags =
    userTags.length === 0
      ? []
      : [say`the ${userTags.length === 1 ? 'tag' : 'tags'} ${namesOf(names, 'tag', userTags)}`];
  const parts = [...has, ...tags];
  return parts.length === 0 ? say`${named(userName)}` : say`${named(userName)} with ${listOf(parts)}`;
}

/** A credential more: whoever holds it is that user. */
export function newCredentialSentence(
  { names, organization }: SentenceContext,
  userId: string,
  credentials: readonly string[],
  noun: string,
): Sentence {
  const user = nameOf(names, 'user', userId);
  const nouns = credentials.length === 1 ? noun : `${noun}s`;
  const said = say`Give ${user} the ${nouns} ${listOf(credentials.map(named))}: whoever has ${credentials.length === 1 ? 'it' : 'them'} can act as ${user}.`;
  return (organization.rootUserIds as readonly string[]).includes(userId)
    ? danger(said, 'a new way in for a root user', 'Whoever holds this can act as a root user. I know whose it is.')
    : lookClosely(said, 'a new way in', 'Whoever holds this can act as this user. I know whose it is.');
}
