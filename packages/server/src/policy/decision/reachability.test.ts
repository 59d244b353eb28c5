import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileExpression, type Expression, evaluate } from '../evaluate/expression.ts';
import type { PolicyCredential } from '../language/structs.ts';
import { POLICY_LIMITS } from '../limits.ts';
import { shapeOf } from './consensus-shape.ts';
import {
  type Approved,
  type Budget,
  couldContribute,
  isIncluded,
  type Member,
  reachabilityOf,
} from './reachability.ts';

const API_KEY = 'CREDENTIAL_TYPE_API_KEY_P256';
const PASSKEY = 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR';

function consensus(text: string): Expression<'consensus'> {
  const compiled = compileExpression('consensus', text);
  if (!compiled.ok) throw new Error(`${text}: ${compiled.error.message}`);
  return compiled.expression;
}

const credential = (userId: string, type = API_KEY): PolicyCredential => ({
  id: `${type} of ${userId}`,
  user_id: userId,
  type,
  credential_id: '',
  public_key: '',
});

const member = (id: string, tags: readonly string[] = [], types: readonly string[] = [API_KEY]): Member => ({
  id,
  tags,
  email: `${id}@example.com`,
  alias: id,
  credentials: types.map((type) => credential(id, type)),
});

const approvedBy = (...members: readonly Member[]): Approved => ({
  users: members,
  credentials: members.flatMap(({ credentials }) => credentials.slice(0, 1)),
});

const full = (): Budget => ({ steps: POLICY_LIMITS.steps });

const reach = (text: string, approved: Approved, members: readonly Member[], budget = full()) => {
  const expression = consensus(text);
  return reachabilityOf(expression, shapeOf(expression.tree), approved, members, budget);
};

const alice = member('alice', ['ops']);
const bob = member('bob', ['ops'], [API_KEY, PASSKEY]);
const carol = member('carol', ['sec']);
const dave = member('dave');
const everyone = [alice, bob, carol, dave];

describe('whether further approvals could help', () => {
  test.each([
    ['approvers.count() >= 2', 'reachable'],
    ['approvers.count() >= 4', 'reachable'],
    ['approvers.count() >= 5', 'unreachable'],
    ['approvers.count() > 100000000000000000000000', 'unreachable'],
    ['approvers.count() == 2', 'reachable'],
    ["approvers.count() == 3 && approvers.filter(u, u.tags.contains('ops')).count() == 2", 'reachable'],
    ["approvers.filter(u, u.tags.contains('ops')).count() >= 2", 'reachable'],
    ["approvers.filter(u, u.tags.contains('ops')).count() >= 3", 'unreachable'],
    ["approvers.filter(u, u.tags.contains('sec')).count() >= 2", 'unreachable'],
    // Not monotone: with everyone it fails, with the right ones it holds.
    ["approvers.filter(u, u.tags.contains('sec')).count() == 1 && approvers.count() == 2", 'reachable'],
    ["approvers.any(u, u.id == 'bob') && !approvers.any(u, u.id == 'carol')", 'reachable'],
    ["approvers.all(u, u.tags.contains('ops')) && approvers.count() == 2", 'reachable'],
    ["!approvers.any(u, u.id == 'alice') && approvers.count() == 2", 'unreachable'],
    ["approvers.all(u, u.tags.contains('sec')) && approvers.count() == 2", 'unreachable'],
    ['false && approvers.count() >= 1', 'unreachable'],
    // Credentials: one's own, another's, one by itself, and those that a login makes.
    [`credentials.any(c, c.type == '${PASSKEY}')`, 'reachable'],
    [`credentials.any(c, c.user_id == 'alice' && c.type == '${PASSKEY}')`, 'unreachable'],
    [
      `credentials.filter(c, c.user_id == 'bob').all(c, c.type == '${PASSKEY}') && approvers.any(u, u.id == 'bob')`,
      'reachable',
    ],
    [
      `approvers.all(u, credentials.any(c, c.user_id == u.id && c.type == '${API_KEY}')) && approvers.count() == 2`,
      'reachable',
    ],
    [`approvers.any(u, u.id == 'bob' && credentials.any(c, c.user_id == u.id && c.type == '${PASSKEY}'))`, 'reachable'],
    ["credentials.any(c, c.type == 'CREDENTIAL_TYPE_LOGIN')", 'reachable'],
    ["credentials.filter(c, c.type == 'CREDENTIAL_TYPE_LOGIN').count() >= 4", 'reachable'],
    // Positions: the order of approval is fixed for those who approved.
    ["approvers[1].id == 'bob'", 'reachable'],
    ["approvers[0].id == 'bob'", 'unreachable'],
  ])('%s after alice: %s', (text, expected) => {
    expect(reach(text, approvedBy(alice), everyone)).toBe(expected);
  });

  test('an approver can add a second credential', () => {
    const text = `credentials.any(c, c.user_id == 'bob' && c.type == '${PASSKEY}')`;
    expect(reach(text, approvedBy(bob), [bob])).toBe('reachable');
    expect(reach(text, approvedBy(alice, bob), [alice])).toBe('unreachable');
    // Nobody else will do, though others have the same.
    const erin = member('erin', [], [API_KEY, PASSKEY]);
    const alone = `credentials.filter(c, c.type == '${PASSKEY}').count() == 1 && approvers.count() == 1`;
    expect(reach(alone, approvedBy(bob), [erin, bob])).toBe('reachable');
    expect(reach(alone, approvedBy(bob), [erin])).toBe('unreachable');
  });

  test('a search that would take too long is left undecided', () => {
    const sorts = Array.from({ length: 40 }, (_, index) => member(`u${index}`, [`t${index}`]));
    const clauses = sorts.map((_, index) => `approvers.filter(u, u.tags.contains('t${index}')).count() == 1`);
    const text = `${clauses.join(' && ')} && approvers.count() == 3`;
    expect(reach(text, approvedBy(sorts[0] as Member), sorts)).toBe('undecided');
    expect(reach('approvers.count() == 2', approvedBy(alice), everyone, { steps: 1 })).toBe('undecided');
  });

  test.each([
    'approvers.count() >= 30',
    '30 <= approvers.count',
    "!(approvers.filter(u, u.tags.contains('t1')).count() < 2)",
    "approvers.any(u, u.id == 'nobody') && credentials.count() > 0",
    "!approvers.all(u, u.id != 'nobody' || u.tags.count() > 1)",
    `approvers.any(u, credentials.any(c, c.user_id == u.id && c.type == '${PASSKEY}'))`,
  ])('what more approvals can never undo needs one look at everyone: %s', (text) => {
    const many = Array.from({ length: 20 }, (_, index) => member(`u${index}`, [`t${index}`]));
    const all = many.map(({ tags: [tag] }) => `approvers.any(u, u.tags.contains('${tag}'))`).join(' && ');
    expect(reach(`${all} && ${text}`, approvedBy(many[0] as Member), many)).toBe('unreachable');
    // One that might be undone, and the same search takes too long.
    const undone = `${all} && ${text} && approvers.count() != 7`;
    expect(reach(undone, approvedBy(many[0] as Member), many)).toBe('undecided');
  });

  test('deep texts are understood in time', () => {
    const lambdas = Array.from({ length: 30 }, (_, index) => `approvers.filter(u${index}, `).join('');
    const text = `${lambdas}true${').count() > 0'.repeat(30)}`;
    expect(shapeOf(consensus(text).tree).onlyGains).toBe(true);
  });

  test('an organization of many users costs what the expression asks for', () => {
    const many = Array.from({ length: 5_000 }, (_, index) => member(`u${index}`, index % 2 === 0 ? ['ops'] : []));
    const budget = full();
    const text = "approvers.filter(u, u.tags.contains('ops')).count() >= 3";
    expect(reach(text, approvedBy(many[0] as Member), many, budget)).toBe('reachable');
    expect(POLICY_LIMITS.steps - budget.steps).toBeLessThan(2_000);
  });
});

describe('who is included', () => {
  const included = (text: string, user: Member, credentials = user.credentials.slice(0, 1)) => {
    const expression = consensus(text);
    return isIncluded(expression, shapeOf(expression.tree), user, credentials, full());
  };

  test.each([
    ["approvers.filter(u, u.tags.contains('ops')).count() >= 2", alice, true],
    ["approvers.filter(u, u.tags.contains('ops')).count() >= 2", dave, false],
    // Passing a later lambda does not count without passing the filter before it.
    ["approvers.filter(u, u.tags.contains('ops')).any(u, u.id != 'bob')", dave, false],
    ["approvers.filter(u, u.tags.contains('ops')).any(u, u.id != 'bob')", alice, true],
    ["approvers.filter(u, u.tags.contains('ops')).any(u, u.id != 'bob')", bob, true],
    ['approvers.count() >= 2', dave, true],
    ['approvers.count >= 2', dave, true],
    ['credentials.count() >= 2', dave, true],
    ['true', dave, false],
    ["approvers[0].id == 'dave'", dave, false],
    ["[1].any(x, approvers.any(u, u.id == 'dave'))", dave, true],
    ["approvers.any(u, credentials.any(c, c.user_id == u.id && u.id == 'dave'))", dave, true],
    ["approvers.any(u, credentials.any(c, c.user_id == u.id && u.id == 'dave'))", alice, false],
    // A lambda that fails for someone does not speak for them.
    ["approvers.any(u, u.tags[0] == 'ops')", alice, true],
    ["approvers.any(u, u.tags[0] == 'ops')", dave, false],
    // Lambdas over something else are about nobody.
    ["['dave'].any(name, name == 'dave')", dave, false],
    ['[1].count() == 2', dave, false],
  ])('%s: %o %s', (text, user, expected) => {
    expect(included(text, user)).toBe(expected);
  });

  test('the credential that was used decides, not those that could have been', () => {
    const text = `credentials.any(c, c.type == '${PASSKEY}')`;
    expect(included(text, bob, [credential('bob', API_KEY)])).toBe(false);
    expect(included(text, bob, [credential('bob', PASSKEY)])).toBe(true);
    const expression = consensus(text);
    expect(couldContribute(expression, shapeOf(expression.tree), bob, full())).toBe(true);
    expect(couldContribute(expression, shapeOf(expression.tree), alice, full())).toBe(false);
  });
});

describe('whom an expression names', () => {
  const names = (text: string) => {
    const { names: found, largestNumber, countsEveryone } = shapeOf(consensus(text).tree);
    const sets = Object.entries(found).filter(([, value]) => value instanceof Set && value.size > 0);
    return {
      ...Object.fromEntries(sets.map(([key, value]) => [key, [...(value as ReadonlySet<string>)]])),
      looksInside: found.looksInside,
      largestNumber,
      countsEveryone,
    };
  };
  const plain = { looksInside: false, largestNumber: 1, countsEveryone: false };

  test.each([
    ["approvers.any(u, u.id == 'a' || 'b' == u.id)", { ...plain, userIds: ['a', 'b'] }],
    ["approvers.any(u, u.id in ['a', 'b'])", { ...plain, userIds: ['a', 'b'] }],
    ["approvers.any(u, ['a'].contains(u.id))", { ...plain, userIds: ['a'] }],
    [
      "approvers.filter(u, u.tags.contains('t') && !('x' in u.tags)).count() >= 3",
      { ...plain, tagIds: ['t', 'x'], largestNumber: 3 },
    ],
    ["approvers.any(u, u.email == 'e' || u.alias == 'n')", { ...plain, emails: ['e'], aliases: ['n'] }],
    [
      "credentials.any(c, c.id == 'c' && c.user_id == 'u' && c.type == 'T' && c.credential_id == 'p' && c.public_key == '02')",
      { ...plain, userIds: ['u'], credentialIds: ['c'], credentialTypes: ['T'], passkeyIds: ['p'], publicKeys: ['02'] },
    ],
    [
      'approvers.any(u, credentials.any(c, c.user_id == u.id)) && approvers.count() > 7',
      { ...plain, largestNumber: 7, countsEveryone: true },
    ],
    ["approvers.any(u, u.email[0..1] == 'a')", { ...plain, looksInside: true }],
    ['approvers.any(u, u.tags.count() > 0)', { ...plain, looksInside: true }],
    ["approvers.any(u, u.tags.any(t, t == 'x'))", { ...plain, looksInside: true }],
    [
      `approvers.count() > ${2n ** 255n}`,
      { ...plain, largestNumber: POLICY_LIMITS.consensusUsers, countsEveryone: true },
    ],
    ['[[1]].any(approvers, approvers.count() == 1)', plain],
  ])('%s', (text, expected) => {
    expect(names(text)).toEqual(expected);
  });
});

/** Random expressions that look at approvers one by one and count them. */
const TAGS = ['ops', 'sec'];
const expressions = fc.letrec<{ bool: string }>((tie) => {
  const lambda = fc.oneof(
    fc.constantFrom(...TAGS).map((tag) => `u.tags.contains('${tag}')`),
    fc.constantFrom('u0', 'u1', 'u2').map((id) => `u.id == '${id}'`),
    fc.constantFrom(...TAGS).map((tag) => `!u.tags.contains('${tag}')`),
  );
  const number = fc.integer({ min: 0, max: 4 });
  const operator = fc.constantFrom('==', '>=', '<', '!=', '>');
  return {
    bool: fc.oneof(
      { maxDepth: 3 },
      fc.tuple(operator, number).map(([op, n]) => `approvers.count() ${op} ${n}`),
      fc.tuple(lambda, operator, number).map(([body, op, n]) => `approvers.filter(u, ${body}).count() ${op} ${n}`),
      lambda.map((body) => `approvers.any(u, ${body})`),
      lambda.map((body) => `approvers.all(u, ${body})`),
      fc.tuple(tie('bool'), tie('bool')).map(([left, right]) => `(${left} && ${right})`),
      fc.tuple(tie('bool'), tie('bool')).map(([left, right]) => `(${left} || ${right})`),
      tie('bool').map((operand) => `!(${operand})`),
    ),
  };
}).bool;

test('the answer is that of trying every set of users', () => {
  const users = fc
    .array(fc.subarray(TAGS), { minLength: 1, maxLength: 6 })
    .map((tags) => tags.map((own, index) => member(`u${index}`, own)));
  fc.assert(
    fc.property(expressions, users, (text, members) => {
      const expression = consensus(text);
      const [first, ...others] = members as [Member, ...Member[]];
      const holds = (set: readonly Member[]): boolean => {
        const evaluation = evaluate(expression, {
          approvers: set,
          credentials: set.flatMap(({ credentials }) => credentials),
        });
        return evaluation.ok && evaluation.value;
      };
      // Only what is not true yet is ever asked.
      fc.pre(!holds([first]));
      const sets = Array.from({ length: 2 ** others.length }, (_, bits) => [
        first,
        ...others.filter((_member, index) => ((bits >> index) & 1) === 1),
      ]);
      const answer = reachabilityOf(expression, shapeOf(expression.tree), approvedBy(first), members, full());
      expect(answer).toBe(sets.some(holds) ? 'reachable' : 'unreachable');
    }),
    { numRuns: 1_000 },
  );
});
