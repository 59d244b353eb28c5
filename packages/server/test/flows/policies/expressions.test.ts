import { describe, expect, test } from 'vitest';
import { databasesOf } from '../../harness/databases.ts';
import {
  ALLOWED,
  allow,
  countActivities,
  DENIED,
  deny,
  invalidCode,
  isUser,
  newOrganization,
  outcome,
  policy,
  rename,
} from '../fixtures/policy-flows.ts';
import { openPolicies } from './support.ts';

describe.each(databasesOf(import.meta.url))('policies on %s', (database) => {
  const suite = openPolicies(database);

  describe('expressions', () => {
    test.each([
      ['condition', "activity.kind === 'X'", /^invalid policy condition: .*column 17/],
      ['condition', "activity.kind == 'X' && eth.tx.recipient == 'a'", /^invalid policy condition: .*column 32/],
      ['condition', 'approvers.count() > 1', /^invalid policy condition: .*column 1\b/],
      ['consensus', 'approvers.count()', /^invalid policy consensus: .*column 1\b/],
      ['consensus', "activity.kind == 'X'", /^invalid policy consensus: .*column 1\b/],
      ['time', "CronSpan('0 9 * * 7', '8h', 'UTC')", /^invalid policy time: .*column \d+/],
    ] as const)('a %s that reads %s is refused, and the column is named', async (field, text, message) => {
      const { root } = await newOrganization(suite.parent);
      const policyId = await allow(root, { condition: 'false' });
      const before = (await root.query('list_policies')).body;
      const activities = await countActivities(root);
      const updated = { condition: 'policyCondition', consensus: 'policyConsensus', time: 'time' }[field];
      for (const [operation, parameters, name] of [
        ['create_policy', { ...policy('ALLOW'), [field]: text }, `parameters.${field}`],
        [
          'create_policies',
          { policies: [policy('ALLOW'), { ...policy('DENY'), [field]: text }] },
          `parameters.policies.1.${field}`,
        ],
        ['update_policy', { policyId, policyNotes: 'changed', [updated]: text }, undefined],
      ] as const) {
        const answer = await root.submit(operation, parameters);
        expect(outcome(answer), operation).toEqual([400, invalidCode(field)]);
        expect(answer.body.code).toBe(3);
        expect(answer.body.message, operation).toMatch(message);
        if (name !== undefined) expect(JSON.stringify(answer.body.details)).toContain(`"field":"${name}"`);
      }
      expect((await root.query('list_policies')).body).toEqual(before);
      expect(await countActivities(root)).toBe(activities);
    });

    test('absent or empty ones count as true', async () => {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      for (const text of [{}, { condition: '' }, { consensus: '' }, { condition: '', consensus: '', time: '' }]) {
        const policyId = await allow(root, text);
        expect(outcome(await rename(alice)), JSON.stringify(text)).toEqual(ALLOWED);
        await root.run('delete_policy', { policyId });
        expect(outcome(await rename(alice))).toEqual(DENIED);
      }
      // Of those that are there, each must hold.
      for (const text of [{ condition: 'false' }, { consensus: 'approvers.count() == 0' }]) {
        const policyId = await allow(root, text);
        expect(outcome(await rename(alice)), JSON.stringify(text)).toEqual(DENIED);
        await root.run('delete_policy', { policyId });
      }
    });

    test('an empty one in an update clears, an absent one stays', async () => {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      const policyId = await allow(root, { condition: 'false', consensus: isUser(root) });
      await root.run('update_policy', { policyId, policyCondition: '' });
      expect(outcome(await rename(alice))).toEqual(DENIED);
      await root.run('update_policy', { policyId, policyConsensus: '' });
      expect((await root.query('get_policy', { policyId })).body.policy).toMatchObject({
        condition: '',
        consensus: '',
      });
      expect(outcome(await rename(alice))).toEqual(ALLOWED);
    });
  });

  describe('warnings', () => {
    const codes = (warnings: readonly { code: string }[]) => warnings.map(({ code }) => code);

    test('come with a new policy and with a changed one, and refuse nothing', async () => {
      const { root } = await newOrganization(suite.parent);
      const fine = await root.run('create_policy', policy('ALLOW', { condition: "activity.resource == 'WALLET'" }));
      expect(fine.warnings).toEqual([]);
      const made = await root.run(
        'create_policy',
        policy('ALLOW', { condition: "activity.resource == 'WALLET' && activity.resource == 'USER'" }),
      );
      expect(made.warnings).toMatchObject([
        { code: 'NEVER_MATCHES', policyId: made.policyId, expression: 'condition' },
      ]);
      const { policyId } = made;
      const repaired = await root.run('update_policy', { policyId, policyCondition: "activity.resource == 'USER'" });
      expect(repaired.warnings).toEqual([]);
      const broken = await root.run('update_policy', {
        policyId,
        policyCondition: "wallet.id == 'a' || private_key.id == 'b'",
      });
      expect(codes(broken.warnings)).toContain('ALWAYS_ERRORS');
      expect((await root.query('get_policy', { policyId })).body.policy.condition).toContain('private_key');
    });

    test('look at the other policies of the organization, and at no others', async () => {
      const { root } = await newOrganization(suite.parent);
      const elsewhere = await newOrganization(suite.parent);
      const condition = "activity.resource == 'WALLET'";
      const denial = await deny(root, { condition });
      const shadowed = await root.run('create_policy', policy('ALLOW', { condition }));
      expect(shadowed.warnings).toMatchObject([
        { code: 'SHADOWED_BY_DENY', policyId: shadowed.policyId, otherPolicyIds: [denial] },
      ]);
      const free = await elsewhere.root.run('create_policy', policy('ALLOW', { condition }));
      expect(free.warnings).toEqual([]);
    });

    test('name each policy of several', async () => {
      const { root } = await newOrganization(suite.parent);
      const { policyIds, warnings } = await root.run('create_policies', {
        policies: [
          policy('ALLOW', { condition: 'false' }),
          policy('ALLOW', { condition: "activity.action == 'SING'" }),
        ],
      });
      const found = warnings.map(({ policyId, code }: { policyId: string; code: string }) => [policyId, code]);
      expect(found).toContainEqual([policyIds[0], 'NEVER_MATCHES']);
      expect(found).toContainEqual([policyIds[1], 'UNKNOWN_ACTIVITY_VALUE']);
    });
  });
});
