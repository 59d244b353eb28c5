import { expect, test } from 'vitest';
import { compileExpression } from '../evaluate/expression.ts';
import { consensusProgress } from './consensus-progress.ts';

const user = (id: string, ...tags: string[]) => ({ id, tags, email: '', alias: id });
const ada = user('ada', 'finance');
const grace = user('grace', 'board');

function progress(text: string, ...approvers: ReturnType<typeof user>[]) {
  const compilation = compileExpression('consensus', text);
  if (!compilation.ok) throw new Error(compilation.error.message);
  return consensusProgress(compilation.expression, { approvers, credentials: [] });
}

test.each([
  ['approvers.count() >= 3', { given: 2, required: 3 }],
  ['approvers.count() > 3', { given: 2, required: 4 }],
  ['approvers.count() == 2', { given: 2, required: 2 }],
  ['3 <= approvers.count()', { given: 2, required: 3 }],
  ['approvers.count() >= 1', { given: 1, required: 1 }],
  ["approvers.filter(user, user.tags.contains('board')).count() >= 2", { given: 1, required: 2 }],
  ["approvers.any(user, user.id == 'linus')", { given: 0, required: 1 }],
  [
    "approvers.any(user, user.tags.contains('board')) && approvers.any(user, user.id == 'linus')",
    { given: 1, required: 2 },
  ],
  ["approvers.count() >= 5 || approvers.any(user, user.id == 'linus')", { given: 0, required: 1 }],
])('of %s', (text, told) => {
  expect(progress(text, ada, grace)).toEqual(told);
});

test.each([
  'true',
  'approvers.count() <= 2',
  'approvers.count() != 2',
  "!approvers.any(user, user.id == 'ada')",
  "approvers.all(user, user.tags.contains('board'))",
  "approvers.count() >= 2 && approvers.any(user, user.tags.contains('board'))",
  'approvers.count() >= 2 || true',
])('no number is told of %s', (text) => {
  expect(progress(text, ada)).toBeUndefined();
});
