import { nameOf } from '../../describe/names.ts';
import { danger, type Sentence, type SentenceContext } from '../../describe/sentence.ts';
import { listOf, named, say, type TextPart } from '../../describe/text.ts';

/** Whose request an export is for: the bundle is encrypted to the key in it. */
export function requestOf({ names, proposerId }: SentenceContext): readonly TextPart[] {
  const proposer = proposerId === undefined ? undefined : names.get('user', proposerId);
  return proposer === undefined ? say`the request` : say`${named(`${proposer.name}'s`)} request`;
}

/** Keys that are deleted for ever; what was never exported is lost with them. */
export function deletionSentence(
  { names }: SentenceContext,
  kind: 'wallet' | 'walletAccount' | 'privateKey',
  ids: readonly string[],
): Sentence {
  const all = ids.map((id) => ({ part: nameOf(names, kind, id), isExported: names.get(kind, id)?.isExported }));
  const listed = listOf(all.map(({ part }) => part));
  const lost = all.filter(({ isExported }) => isExported === false);
  const [it, holds, was] = ids.length === 1 ? ['It', 'it holds', 'was'] : ['They', 'they hold', 'were'];
  // An account comes back with its wallet, whose words still stand.
  if (kind === 'walletAccount') {
    return danger(
      say`Delete the accounts ${listed}: nothing here signs for them then.`,
      'nothing here signs for them then',
      'These accounts can be used again only through the words of their wallet. I want that.',
    );
  }
  if (lost.length === 0) {
    return danger(
      say`Delete ${listed} for ever: only those who have an export can use ${ids.length === 1 ? 'it' : 'them'} then.`,
      'cannot be undone',
      'This is gone for ever; only an export can bring it back. I want that.',
    );
  }
  return danger(
    lost.length === ids.length
      ? say`Delete ${listed} for ever. ${it} ${was} never exported: what ${holds} is lost.`
      : say`Delete ${listed} for ever. ${listOf(lost.map(({ part }) => part))} ${lost.length === 1 ? 'was' : 'were'} never exported: what ${lost.length === 1 ? 'it holds' : 'they hold'} is lost.`,
    'never exported: what it holds is lost',
    'Nobody has a copy. Everything that it holds is lost for ever. I want that.',
  );
}
