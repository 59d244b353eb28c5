import type { Description, QuorumState } from '../../api/types.ts';
import { Card } from '../../kit/card.tsx';
import { QuorumRing } from '../../kit/quorum-ring.tsx';
import { listInWords } from '../../lib/text.ts';
import { useSessionOrThrow } from '../../session/session.ts';
import styles from './request.module.css';

const NUMBERS = ['No one', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine', 'Ten'];
const SETS_MAX = 6;

/** Who must agree today and afterwards, drawn with people. */
export function QuorumChange({ change }: { readonly change: NonNullable<Description['quorumChange']> }) {
  const { before, after } = change;
  const isWeaker = after.threshold < before.threshold || isMissing(before, after) || isMissing(after, before);
  return (
    <div className={styles.pair}>
      <Quorum title="Today" quorum={before} />
      <Quorum title="After" quorum={after} before={before} isDangerous={isWeaker} />
    </div>
  );
}

const isMissing = (one: QuorumState, other: QuorumState): boolean =>
  one.users.some(({ userId }) => !other.users.some((user) => user.userId === userId));

interface QuorumProps {
  readonly title: string;
  readonly quorum: QuorumState;
  readonly before?: QuorumState;
  readonly isDangerous?: boolean;
}

function Quorum({ title, quorum, before, isDangerous = false }: QuorumProps) {
  const { userId } = useSessionOrThrow();
  const { threshold, users } = quorum;
  const number = NUMBERS[threshold] ?? String(threshold);
  const verb = threshold === 1 ? 'is enough' : 'must agree';
  return (
    <Card {...(isDangerous && { tone: 'deny' as const })}>
      <div className={styles.quorum}>
        <QuorumRing
          size="small"
          threshold={threshold}
          people={users.map((user) => ({ ...user, ...(user.userId === userId && { text: 'you' }) }))}
          tone={isDangerous ? 'deny' : 'ink'}
        />
        <div className={styles.quorumText}>
          <p className={styles.meta}>{title}</p>
          <p className={styles.quorumTitle}>
            {number} {verb}
          </p>
          <p className={styles.quorumSets}>
            <bdi>{setsInWords(quorum)}</bdi>
            {before !== undefined && peopleChange(before, quorum)}
          </p>
        </div>
      </div>
    </Card>
  );
}

/** "Ada and Grace, Ada and Tomás, or Grace and Tomás": every set of people that suffices, while they are few. */
function setsInWords({ threshold, users }: QuorumState): string {
  const names = users.map(({ userName }) => firstName(userName, users));
  const sets = subsets(names, threshold);
  if (sets.length === 0 || sets.length > SETS_MAX) return `any ${threshold} of ${listInWords(names)}`;
  const written = sets.map((set) => listInWords(set));
  if (written.length === 1) return written[0] ?? '';
  return `${written.slice(0, -1).join(', ')}, or ${written.at(-1)}`;
}

/** The first name alone, where nobody else has it. */
function firstName(name: string, users: QuorumState['users']): string {
  const [first = name] = name.split(' ');
  return users.filter(({ userName }) => userName.split(' ')[0] === first).length > 1 ? name : first;
}

function subsets(items: readonly string[], size: number): readonly (readonly string[])[] {
  if (size === 0) return [[]];
  if (items.length < size || items.length > 12) return [];
  return items.flatMap((item, index) => subsets(items.slice(index + 1), size - 1).map((rest) => [item, ...rest]));
}

function peopleChange(before: QuorumState, after: QuorumState): string {
  const missing = (one: QuorumState, other: QuorumState): readonly string[] =>
    one.users
      .filter(({ userId }) => !other.users.some((user) => user.userId === userId))
      .map(({ userName }) => userName);
  const [added, removed] = [missing(after, before), missing(before, after)];
  if (added.length === 0 && removed.length === 0) return '. The people stay the same.';
  const parts = [
    added.length > 0 && `${listInWords(added)} joins`,
    removed.length > 0 && `${listInWords(removed)} leaves`,
  ].filter(Boolean);
  return `. ${parts.join(', ')}.`;
}
