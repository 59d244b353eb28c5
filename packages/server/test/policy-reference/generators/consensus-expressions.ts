// Consensus expressions in the usual idioms, for decisions. The general generator covers the rest of
// the language; here every way to name an approver is a lambda over a whole list, or a count of one.
import fc from 'fast-check';
import { oneOf, weighted } from './pools.ts';
import { atLeast, type Piece } from './terms.ts';

export interface ConsensusOptions {
  readonly userIds: readonly string[];
  readonly tags: readonly string[];
  readonly credentialTypes: readonly string[];
  /** True: only what stays true when more users approve, so that every way of searching for approvers agrees. */
  readonly monotone: boolean;
}

export function consensusExpressions(options: ConsensusOptions): fc.Arbitrary<string> {
  return consensusPieces(2, options).map(({ text }) => text);
}

function consensusPieces(depth: number, options: ConsensusOptions): fc.Arbitrary<Piece> {
  const clause = clauses(options);
  if (depth === 0) return clause;
  const operand = (level: Piece['level']): fc.Arbitrary<string> =>
    consensusPieces(depth - 1, options).map((piece) => atLeast(piece, level));
  return fc.oneof(
    { weight: 4, arbitrary: clause },
    weighted(2, () => fc.tuple(operand(1), operand(1)).map((sides): Piece => ({ text: sides.join(' && '), level: 1 }))),
    weighted(1, () => fc.tuple(operand(0), operand(0)).map((sides): Piece => ({ text: sides.join(' || '), level: 0 }))),
    ...(options.monotone ? [] : [weighted(1, () => operand(3).map((text): Piece => ({ text: `!${text}`, level: 3 })))]),
  );
}

function clauses(options: ConsensusOptions): fc.Arbitrary<Piece> {
  const operator = oneOf(options.monotone ? ['>=', '>'] : ['>=', '>', '==', '!=', '<', '<=']);
  const number = oneOf(['0', '1', '1', '2', '2', '3']);
  const count = oneOf(['count()', 'count']);
  const quantifier = oneOf(options.monotone ? ['any'] : ['any', 'any', 'all']);
  const ofUser = userPredicates(options);
  const ofCredential = credentialPredicates(options);
  const call = (text: string): Piece => ({ text, level: 3 });
  const comparison = (text: string): Piece => ({ text, level: 2 });
  return fc.oneof(
    { weight: 4, arbitrary: fc.tuple(quantifier, ofUser).map(([q, body]) => call(`approvers.${q}(u, ${body})`)) },
    {
      weight: 4,
      arbitrary: fc
        .tuple(ofUser, count, operator, number)
        .map(([body, c, op, n]) => comparison(`approvers.filter(u, ${body}).${c} ${op} ${n}`)),
    },
    {
      weight: 3,
      arbitrary: fc
        .tuple(oneOf(['approvers', 'approvers', 'credentials']), count, operator, number)
        .map(([list, c, op, n]) => comparison(`${list}.${c} ${op} ${n}`)),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(quantifier, ofCredential).map(([q, body]) => call(`credentials.${q}(c, ${body})`)),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(ofUser, ofCredential)
        .map(([user, credential]) =>
          call(`approvers.any(u, (${user}) && credentials.any(c, c.user_id == u.id && ${credential}))`),
        ),
    },
  );
}

function userPredicates({ userIds, tags }: ConsensusOptions): fc.Arbitrary<string> {
  const id = oneOf(userIds);
  const tag = oneOf(tags);
  return fc.oneof(
    id.map((text) => `u.id == '${text}'`),
    tag.map((text) => `u.tags.contains('${text}')`),
    tag.map((text) => `'${text}' in u.tags`),
    tag.map((text) => `u.tags.any(t, t == '${text}')`),
    fc.tuple(id, id).map(([a, b]) => `u.id in ['${a}', '${b}']`),
    fc.tuple(id, tag).map(([a, b]) => `u.id == '${a}' || u.tags.contains('${b}')`),
    fc.tuple(id, tag).map(([a, b]) => `u.id != '${a}' && u.tags.contains('${b}')`),
  );
}

function credentialPredicates({ userIds, credentialTypes }: ConsensusOptions): fc.Arbitrary<string> {
  return fc.oneof(
    oneOf(credentialTypes).map((type) => `c.type == '${type}'`),
    oneOf(userIds).map((id) => `c.user_id == '${id}'`),
  );
}
