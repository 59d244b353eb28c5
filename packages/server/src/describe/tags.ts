import { lookClosely, routine, type Sentence } from './sentence.ts';
import { listOf, named, say, type TextPart } from './text.ts';

interface TagChange {
  readonly tag: TextPart;
  readonly noun: string;
  readonly newName: string | undefined;
  readonly added: readonly TextPart[];
  readonly removed: readonly TextPart[];
}

/** A tag that is renamed, given or taken away: policies may go by it. */
export function tagChangeSentence({ tag, noun, newName, added, removed }: TagChange): Sentence {
  const changes = [
    ...(added.length === 0 ? [] : [say`give it to ${listOf(added)}`]),
    ...(removed.length === 0 ? [] : [say`take it from ${listOf(removed)}`]),
  ];
  const renamed = newName === undefined ? undefined : say`Rename ${noun} ${tag} to ${named(newName)}`;
  if (changes.length === 0)
    return routine(renamed === undefined ? say`Leave ${noun} ${tag} unchanged.` : say`${renamed}.`);
  const listed = listOf(changes);
  return lookClosely(
    renamed === undefined ? say`Change ${noun} ${tag}: ${listed}.` : say`${renamed}, and ${listed}.`,
    'policies may go by tags',
    'Policies that go by this tag then apply to others than now. I want that.',
  );
}
