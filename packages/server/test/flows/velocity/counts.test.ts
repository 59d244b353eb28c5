import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createUser } from '../../harness/client.ts';
import { DATABASES } from '../../harness/databases.ts';
import { remark } from '../../harness/remark.ts';
import { outcome, path, propose, tagNames, times } from '../fixtures/access.ts';
import { importKey } from '../fixtures/wallets.ts';
import { control, countOf, DONE, EXCEEDED, openVelocity, SIGN, send, TAG, transaction } from './support.ts';

describe.each(DATABASES)('velocity controls on %s', (database) => {
  const suite = openVelocity(database);
  const { newOrg, newSpender } = suite;

  describe('counts', () => {
    test('what is beyond the limit is refused with the name of the control, and leaves no trace', async () => {
      const { root, user } = await newOrg();
      const parameters = countOf({ threshold: '2' });
      const velocityControlId = await control(root, parameters);
      for (const name of ['a', 'b']) expect(outcome(await propose(user, name))).toEqual(DONE);
      const refused = await propose(user, 'c');
      expect(outcome(refused)).toEqual(EXCEEDED);
      expect(refused.body.code).toBe(7);
      expect(refused.body.message).toContain(parameters.name);
      expect(refused.body.message).toContain(velocityControlId);
      expect((await tagNames(root)).sort()).toEqual(['a', 'b']);
      expect((await root.query('list_activities', { filterByType: [TAG] })).body.activities).toHaveLength(2);
    });

    test.each([
      ['LESS_THAN', '2', [true, false, false]],
      ['LESS_THAN', '1', [false, false, false]],
      ['LESS_THAN', '2.5', [true, true, false]],
      ['LESS_THAN_OR_EQUAL', '2', [true, true, false]],
      ['LESS_THAN_OR_EQUAL', '0', [false, false, false]],
      ['EQUAL', '1', [true, false, false]],
      ['EQUAL', '2', [false, false, false]],
      ['GREATER_THAN_OR_EQUAL', '1', [true, true, true]],
      ['GREATER_THAN_OR_EQUAL', '2', [false, false, false]],
      ['GREATER_THAN', '0', [true, true, true]],
      ['GREATER_THAN', '1', [false, false, false]],
    ])('%s %s', async (operator, threshold, expected) => {
      const { root, user } = await newOrg();
      await control(root, countOf({ operator, threshold }));
      const answers: boolean[] = [];
      for (const _ of expected) answers.push((await propose(user)).status === 200);
      expect(answers).toEqual(expected);
    });

    test('the same bytes count once', async () => {
      const { root, user } = await newOrg();
      await control(root, countOf({ threshold: '2' }));
      const body = user.submitBody('create_user_tag', { userTagName: 'Once', userIds: [] });
      for (const _ of times(3, () => 0)) {
        expect(outcome(await user.sendStamped(path('create_user_tag'), body))).toEqual(DONE);
      }
      expect(outcome(await propose(user))).toEqual(DONE);
      expect(outcome(await propose(user))).toEqual(EXCEEDED);
    });

    test('what is denied, invalid or fails does not count', async () => {
      const { root, user } = await newOrg();
      const plain = await createUser(root, 'plain');
      await control(root, countOf({ threshold: '2' }));
      expect(outcome(await propose(user, 'Taken'))).toEqual(DONE);
      expect((await propose(plain)).status).toBe(403);
      expect((await propose(user, 'Taken')).status).toBe(409);
      expect((await user.submit('create_user_tag', { userTagName: 'x', userIds: [randomUUID()] })).status).toBe(404);
      expect((await user.submit('create_user_tag', {})).status).toBe(400);
      expect(outcome(await propose(user))).toEqual(DONE);
      // Nor does what the limit itself refused.
      expect(outcome(await propose(user))).toEqual(EXCEEDED);
      const counted = await suite.rows.run('SELECT id FROM velocity_entry WHERE organization_id = ?', [
        root.organizationId,
      ]);
      expect(counted).toHaveLength(2);
    });

    test('only what the filter names, or everything without one', async () => {
      const { root, user } = await newOrg();
      await control(root, countOf({ types: [TAG, 'ACTIVITY_TYPE_UPDATE_USER_NAME'], threshold: '2' }));
      const rename = () => user.submit('update_user_name', { userId: user.userId, userName: randomUUID() });
      const email = () =>
        user.submit('update_user_email', { userId: user.userId, userEmail: `${randomUUID()}@example.com` });
      for (const call of [email, email, email]) expect(outcome(await call())).toEqual(DONE);
      expect(outcome(await rename())).toEqual(DONE);
      expect(outcome(await propose(user))).toEqual(DONE);
      for (const call of [rename, () => propose(user)]) expect(outcome(await call())).toEqual(EXCEEDED);
      expect(outcome(await email())).toEqual(DONE);
      const parameters = countOf();
      await control(root, { ...parameters, dataSource: { activityExecution: {} } });
      expect(outcome(await email())).toEqual(DONE);
      expect(outcome(await email())).toEqual(EXCEEDED);
    });

    test('a filter means every version of the operation', async () => {
      const { root, user } = await newOrg();
      const { privateKeyId } = await importKey(root, 'SECP256K1', '11'.repeat(32), ['ETHEREUM']);
      await control(root, countOf({ types: [SIGN] }));
      const unsignedTransaction = transaction({ value: 1n });
      const older = { type: 'ACTIVITY_TYPE_SIGN_TRANSACTION' };
      const parameters = { privateKeyId, type: 'TRANSACTION_TYPE_ETHEREUM', unsignedTransaction };
      expect(outcome(await send(user, privateKeyId, { value: 1n }))).toEqual(DONE);
      expect(outcome(await send(user, privateKeyId, { value: 1n }))).toEqual(EXCEEDED);
      expect(outcome(await user.submit('sign_transaction', parameters, older))).toEqual(EXCEEDED);
    });

    test('every control has to be satisfied, and the one that is not is named', async () => {
      const { root, user } = await newOrg();
      const [wide, narrow] = [countOf({ threshold: '9' }), countOf({ threshold: '1' })];
      for (const parameters of [wide, narrow, countOf({ threshold: '8' })]) await control(root, parameters);
      expect(outcome(await propose(user))).toEqual(DONE);
      const refused = await propose(user);
      expect(outcome(refused)).toEqual(EXCEEDED);
      expect(refused.body.message).toContain(narrow.name);
      expect(refused.body.message).not.toContain(wide.name);
      // The refusal counted against none of them.
      const counted = await suite.rows.run('SELECT id FROM velocity_entry WHERE organization_id = ?', [
        root.organizationId,
      ]);
      expect(counted).toHaveLength(3);
    });

    test('a control sees only its own organization, and only what came after it', async () => {
      const [one, two] = [await newOrg(), await newOrg()];
      expect(outcome(await propose(one.user))).toEqual(DONE);
      await control(one.root, countOf());
      await control(two.root, countOf());
      expect(outcome(await propose(one.user))).toEqual(DONE);
      expect(outcome(await propose(one.user))).toEqual(EXCEEDED);
      expect(outcome(await propose(two.user))).toEqual(DONE);
      // A parent's does not reach down.
      const parameters = countOf({ threshold: '0' });
      const velocityControlId = await control(suite.parent, parameters);
      const { root, user } = await newOrg();
      expect(outcome(await propose(user))).toEqual(DONE);
      expect(outcome(await propose(root))).toEqual(DONE);
      await suite.parent.run('delete_velocity_control', { velocityControlId });
    });

    test('a deleted control limits nothing, and one made anew starts from nothing', async () => {
      const { root, user } = await newOrg();
      const parameters = countOf();
      const velocityControlId = await control(root, parameters);
      expect(outcome(await propose(user))).toEqual(DONE);
      expect(outcome(await propose(user))).toEqual(EXCEEDED);
      expect(await root.run('delete_velocity_control', { velocityControlId })).toEqual({ velocityControlId });
      expect((await root.query('get_velocity_control', { velocityControlId })).status).toBe(404);
      expect((await root.submit('delete_velocity_control', { velocityControlId })).status).toBe(404);
      for (const _ of times(2, () => 0)) expect(outcome(await propose(user))).toEqual(DONE);
      await control(root, parameters);
      expect(outcome(await propose(user))).toEqual(DONE);
      expect(outcome(await propose(user))).toEqual(EXCEEDED);
    });

    test('by user: each has its own', async () => {
      const { root, user } = await newOrg();
      const other = await newSpender(root);
      await control(root, countOf({ groupBy: { user: {} } }));
      expect(outcome(await propose(user))).toEqual(DONE);
      expect(outcome(await propose(user))).toEqual(EXCEEDED);
      expect(outcome(await propose(other))).toEqual(DONE);
      expect(outcome(await propose(other))).toEqual(EXCEEDED);
    });

    test('by organization: all share it', async () => {
      const { root, user } = await newOrg();
      const other = await newSpender(root);
      await control(root, countOf({ threshold: '2' }));
      expect(outcome(await propose(user))).toEqual(DONE);
      expect(outcome(await propose(other))).toEqual(DONE);
      for (const client of [user, other]) expect(outcome(await propose(client))).toEqual(EXCEEDED);
    });

    test('that another process wrote with its clock ahead are counted, and so is what follows', async () => {
      const { root, user } = await newOrg();
      await control(root, countOf({ threshold: '3', window: { rolling: { duration: '1h' } } }));
      expect(outcome(await propose(user))).toEqual(DONE);
      await suite.rows.run(
        'UPDATE velocity_entry SET id = ?, created_at_ms = created_at_ms + 2000 WHERE organization_id = ?',
        ['ffffffff-ffff-7fff-bfff-ffffffffffff', root.organizationId],
      );
      await remark(suite.place, 'velocity_entry', `organization_id = '${root.organizationId}'`);
      expect(outcome(await propose(user))).toEqual(DONE);
      expect(outcome(await propose(user))).toEqual(DONE);
      expect(outcome(await propose(user))).toEqual(EXCEEDED);
    });
  });
});
