import { nameOf } from '../../describe/names.ts';
import { danger, lookClosely, type Quorum, type Sentence, type SentenceContext } from '../../describe/sentence.ts';
import { count, listOf, say, strong, type TextPart } from '../../describe/text.ts';

/** A root quorum in words: who could then do everything. */
export function rootQuorumSentence(
  { threshold, userIds }: { readonly threshold: number; readonly userIds: readonly string[] },
  { names, organization, isDone }: SentenceContext,
): Sentence {
  const nameIn = (userId: string): TextPart => nameOf(names, 'user', userId);
  const quorum = (needed: number, ids: readonly string[]): Quorum => ({
    threshold: needed,
    users: ids.map((userId) => ({ userId, userName: names.get('user', userId)?.name ?? '' })),
  });
  const after = quorum(threshold, userIds);
  const who = userIds.map(nameIn);
  const those = listed(who);
  const power =
    threshold <= 1
      ? say`any one of ${those} could do everything alone`
      : threshold >= userIds.length
        ? say`all of ${those} are needed for everything, and losing one locks everybody out`
        : say`any ${count(threshold)} of ${those} could do everything together`;
  const agreed =
    threshold <= 1
      ? 'One person alone will be enough for everything. I want that.'
      : `${count(threshold)} of these ${count(userIds.length)} people can do everything. I want that.`;
  const kind = 'Change the root quorum';
  // What it was before cannot be read any more once it is changed.
  if (isDone) {
    return {
      ...danger(
        say`Set the root quorum to ${of(threshold, userIds)}: ${power}.`,
        'decides who can do everything',
        agreed,
      ),
      kind,
    };
  }
  const before = quorum(organization.rootThreshold, organization.rootUserIds);
  const change = { kind, quorumChange: { before, after } };
  const [was, is] = [of(organization.rootThreshold, organization.rootUserIds), of(threshold, userIds)];
  const added = userIds.filter((id) => !(organization.rootUserIds as readonly string[]).includes(id));
  const removed = organization.rootUserIds.filter((id) => !userIds.includes(id));
  const isSame = threshold === organization.rootThreshold;
  if (added.length > 0 && removed.length === 0 && isSame) {
    const news = listOf(added.map(nameIn));
    const others = threshold - 1;
    const reach =
      added.length > 1
        ? power
        : others === 0
          ? say`${news} alone can do everything`
          : say`${news} with any ${others === 1 ? 'one other' : `${count(others)} others`} can do everything`;
    const noun = added.length === 1 ? 'a root user' : 'root users';
    return {
      ...danger(say`Make ${news} ${noun}: ${was} becomes ${is}, and ${reach}.`, 'adds a root user', agreed),
      ...change,
    };
  }
  if (removed.length > 0 && added.length === 0 && isSame) {
    const gone = listOf(removed.map(nameIn));
    return {
      ...danger(say`Take root away from ${gone}: ${was} becomes ${is}, and ${power}.`, 'removes a root user', agreed),
      ...change,
    };
  }
  if (added.length === 0 && removed.length === 0 && threshold > organization.rootThreshold) {
    const said = say`Raise the root quorum from ${was} to ${is}: ${power}.`;
    const consequence = 'More people are then needed for everything, also to undo this. I want that.';
    return threshold >= userIds.length
      ? { ...danger(said, 'losing one person locks everybody out', consequence), ...change }
      : { ...lookClosely(said, 'changes who can do everything', consequence), ...change };
  }
  if (added.length === 0 && removed.length === 0 && threshold < organization.rootThreshold) {
    const mark = threshold <= 1 ? 'gives one person all power' : 'fewer people suffice for everything';
    return { ...danger(say`Lower the root quorum from ${was} to ${is}: ${power}.`, mark, agreed), ...change };
  }
  if (added.length === 0 && removed.length === 0) {
    return { ...lookClosely(say`Keep the root quorum at ${is}.`, 'changes nothing', agreed), ...change };
  }
  const swapped = say`${added.length === 0 ? '' : say`add ${listOf(added.map(nameIn))}`}${added.length > 0 && removed.length > 0 ? ', ' : ''}${removed.length === 0 ? '' : say`remove ${listOf(removed.map(nameIn))}`}`;
  return {
    ...danger(
      say`Change the root quorum from ${was} to ${is} (${swapped}): ${power}.`,
      'changes who can do everything',
      agreed,
    ),
    ...change,
  };
}

const of = (needed: number, users: readonly string[]): TextPart => strong(`${count(needed)} of ${count(users.length)}`);

const SHOWN_MAX = 8;

/** With commas alone: any one of them, not all. */
const listed = (who: readonly TextPart[]): readonly TextPart[] =>
  who
    .slice(0, SHOWN_MAX)
    .flatMap((name, index) => say`${index === 0 ? '' : ', '}${name}`)
    .concat(who.length > SHOWN_MAX ? say`, ${count(who.length - SHOWN_MAX)} more` : []);
