import { type Expression, evaluate } from '../evaluate/expression.ts';
import type { Frame } from '../evaluate/frame.ts';
import { RuntimeFailure } from '../language/errors.ts';
import type { ConsensusFacts, PolicyCredential, PolicyUser } from '../language/structs.ts';
import { POLICY_LIMITS } from '../limits.ts';
import type { ConsensusShape } from './consensus-shape.ts';

/** A user of the organization with the credentials that it could approve with. */
export interface Member extends PolicyUser {
  readonly credentials: readonly PolicyCredential[];
}

/** Who has approved, in order, each user once; and with which credentials. */
export interface Approved {
  readonly users: readonly PolicyUser[];
  readonly credentials: readonly PolicyCredential[];
}

/** A budget that several evaluations share. */
export interface Budget {
  steps: number;
}

export type Reachability = 'reachable' | 'unreachable' | 'undecided';

/** Credentials that a login makes: whoever has none now may have one in a minute. */
const SESSION_TYPES: readonly string[] = [
  'CREDENTIAL_TYPE_OTP_AUTH_KEY_P256',
  'CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256',
  'CREDENTIAL_TYPE_OAUTH_KEY_P256',
  'CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256',
  'CREDENTIAL_TYPE_LOGIN',
];

/** One way for a user to approve, and how a consensus sees it. */
interface Option {
  readonly user: PolicyUser;
  readonly credentials: readonly PolicyCredential[];
  readonly view: View;
}

/** What the clauses of a consensus make of one user with some credentials, looked at alone. */
interface View {
  /** Whether it serves the consensus at all. */
  readonly serves: boolean;
  /** For how many elements each clause holds and does not: equal signatures cannot be told apart. */
  readonly signature: string;
}

function viewOf(
  { clauses, countsEveryone, readsCredentials }: ConsensusShape,
  user: PolicyUser,
  credentials: readonly PolicyCredential[],
  slotCount: number,
  budget: Budget,
): View {
  const facts: ConsensusFacts = { approvers: [user], credentials };
  let serves = countsEveryone;
  const counts = clauses.map(({ target, body, slot }) => {
    const frame: Frame = { roots: facts, slots: new Array(slotCount), fuel: budget.steps };
    try {
      const elements = target(frame) as readonly unknown[];
      const holding = elements.filter((element) => {
        frame.slots[slot] = element;
        return body(frame) === true;
      }).length;
      if (holding > 0) serves = true;
      return `${holding}/${elements.length}`;
    } catch (error) {
      // A clause that fails for someone does not speak for them.
      if (error instanceof RuntimeFailure) return 'x';
      throw error;
    } finally {
      budget.steps = Math.max(0, frame.fuel);
    }
  });
  // How many credentials come with an approval matters to whoever counts them.
  if (readsCredentials) counts.push(String(credentials.length));
  return { serves, signature: counts.join(' ') };
}

/** Whether an approval by this user with these credentials serves the consensus at all (protocol/policies 8.2). */
export function isIncluded(
  { tree }: Expression<'consensus'>,
  shape: ConsensusShape,
  user: PolicyUser,
  credentials: readonly PolicyCredential[],
  budget: Budget,
): boolean {
  return viewOf(shape, user, credentials, tree.slotCount, budget).serves;
}

/** The ways in which a user could still approve: with everything it has, with each single credential, after a login. */
function* waysToApprove(member: Member, shape: ConsensusShape): Generator<readonly PolicyCredential[]> {
  yield member.credentials;
  if (!shape.readsCredentials) return;
  for (const credential of member.credentials.slice(0, POLICY_LIMITS.credentialsTried)) yield [credential];
  for (const type of SESSION_TYPES) {
    if (!shape.names.credentialTypes.has(type)) continue;
    yield [{ id: '', user_id: member.id, type, credential_id: '', public_key: '' }];
  }
}

/** The distinct ways, as the consensus tells ways apart. */
function optionsOf(
  expression: Expression<'consensus'>,
  shape: ConsensusShape,
  member: Member,
  budget: Budget,
): Option[] {
  const options = new Map<string, Option>();
  for (const credentials of waysToApprove(member, shape)) {
    const view = viewOf(shape, member, credentials, expression.tree.slotCount, budget);
    if (!options.has(view.signature)) options.set(view.signature, { user: member, credentials, view });
  }
  return [...options.values()];
}

/** Whether some way in which this user could approve serves the consensus. */
export const couldContribute = (
  expression: Expression<'consensus'>,
  shape: ConsensusShape,
  member: Member,
  budget: Budget,
): boolean => optionsOf(expression, shape, member, budget).some(({ view }) => view.serves);

/**
 * Whether further approvals could make a consensus true. Users whom it cannot tell apart are interchangeable, so sets are
 * built by how many of each sort join, up to the largest number in the text; every set that counts is of real users and
 * evaluated by the expression itself. A budget bounds the search; when it ends first, the answer is undecided.
 */
export function reachabilityOf(
  expression: Expression<'consensus'>,
  shape: ConsensusShape,
  approved: Approved,
  members: readonly Member[],
  budget: Budget,
): Reachability {
  /** Undefined when it has no value: for want of steps, or because it fails for these users. */
  const valueWith = (options: readonly Option[]): boolean | undefined => {
    budget.steps -= options.length;
    if (budget.steps <= 0) return undefined;
    const evaluation = evaluate(expression, joined(approved, options), budget.steps);
    budget.steps -= evaluation.steps;
    return evaluation.ok ? evaluation.value : undefined;
  };
  let withEveryone: boolean | undefined;
  const sorts = new Map<string, Option[]>();
  let checkAt = FIRST_CHECK;
  for (const [index, member] of members.entries()) {
    if (budget.steps <= 0) return 'undecided';
    for (const option of furtherOptions(expression, shape, approved, member, budget)) addTo(sorts, option, shape);
    // Most expressions only gain by approvals: then everyone together is the one set to try, and often a few suffice.
    if (index + 1 < checkAt && index + 1 < members.length) continue;
    checkAt *= 2;
    withEveryone = valueWith([...sorts.values()].flat());
    if (withEveryone) return 'reachable';
  }
  if (shape.onlyGains && withEveryone === false) return 'unreachable';
  if (sorts.size > SORTS_MAX) return 'undecided';
  for (const options of combinations(inOrder(sorts))) {
    if (budget.steps <= 0) return 'undecided';
    if (valueWith(options)) return 'reachable';
  }
  return budget.steps <= 0 ? 'undecided' : 'unreachable';
}

const FIRST_CHECK = 16;
/** Beyond this many sorts of users, trying all combinations is hopeless. */
const SORTS_MAX = 32;

/** What a member could still add: whoever has approved can only add a credential. */
function furtherOptions(
  expression: Expression<'consensus'>,
  shape: ConsensusShape,
  approved: Approved,
  member: Member,
  budget: Budget,
): Option[] {
  const options = optionsOf(expression, shape, member, budget);
  if (!approved.users.some(({ id }) => id === member.id)) return options;
  const isUnused = ({ id }: PolicyCredential) => !approved.credentials.some((used) => used.id === id);
  return options
    .map((option) => ({
      ...option,
      credentials: option.credentials.filter(isUnused),
      view: { ...option.view, signature: `${option.view.signature} again` },
    }))
    .filter(({ credentials }) => credentials.length > 0);
}

function addTo(sorts: Map<string, Option[]>, option: Option, shape: ConsensusShape): void {
  const { signature } = option.view;
  const sort = sorts.get(signature);
  if (sort === undefined) sorts.set(signature, [option]);
  // One more than the largest number is enough to exceed it.
  else if (sort.length <= shape.largestNumber) sort.push(option);
}

/** Those that serve the consensus first. */
const inOrder = (sorts: ReadonlyMap<string, Option[]>): Option[][] => {
  const rank = ([first]: readonly Option[]): number => (first?.view.serves ? 0 : 1);
  return [...sorts.values()].toSorted((left, right) => rank(left) - rank(right));
};

/** Growing sets, smallest first: of each sort the first few. */
function* combinations(sorts: readonly Option[][]): Generator<readonly Option[]> {
  const room = sorts.map((_sort, from) => sorts.slice(from).reduce((sum, { length }) => sum + length, 0));
  for (let size = 1; size <= (room[0] ?? 0); size += 1) yield* pick(sorts, room, 0, size);
}

function* pick(
  sorts: readonly Option[][],
  room: readonly number[],
  from: number,
  size: number,
): Generator<readonly Option[]> {
  if (size === 0) yield [];
  const sort = sorts[from];
  // Without enough users left, nothing would come of going on.
  if (size === 0 || sort === undefined || size > (room[from] as number)) return;
  for (let count = Math.min(size, sort.length); count >= 0; count -= 1) {
    for (const rest of pick(sorts, room, from + 1, size - count)) yield [...sort.slice(0, count), ...rest];
  }
}

/** The facts of a consensus after more approvals: each user once, each credential once. */
function joined(approved: Approved, options: readonly Option[]): ConsensusFacts {
  const users = new Map(approved.users.map((user) => [user.id, user]));
  const credentials = new Map(
    approved.credentials.map((credential, index) => [credential.id || `#${index}`, credential]),
  );
  for (const [index, option] of options.entries()) {
    users.set(option.user.id, option.user);
    for (const credential of option.credentials) credentials.set(credential.id || `new ${index}`, credential);
  }
  return { approvers: [...users.values()], credentials: [...credentials.values()] };
}
