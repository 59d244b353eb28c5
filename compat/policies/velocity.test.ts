import type { TransactionSerializable } from 'viem';
import { describe, expect, test } from 'vitest';
import { CHAIN, failure, gift, isUser, type Person, type Treasury } from '../policy-fixtures.ts';
import { errorCodeOf, refusal } from '../sdk.ts';
import { openPolicies, requestOf, SIGNS, sign, TIMESTAMP, UUID } from './support.ts';

describe.each(['postgres'] as const)('on %s', (database) => {
  const suite = openPolicies(database);
  const { open } = suite;

  describe('velocity controls', () => {
    type Control = Parameters<Person['http']['createVelocityControl']>[0]['parameters'];

    const control = ({ root, id }: Treasury, parameters: Control) =>
      root.http.createVelocityControl(requestOf(id, 'ACTIVITY_TYPE_CREATE_VELOCITY_CONTROL', parameters));

    const daily = {
      window: { rolling: { duration: '24h' } },
      operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL' as const,
    };
    const threeADay: Control = {
      name: 'three a day',
      identifier: 'three_a_day',
      dataSource: {
        activityExecution: { filter: { activity: [{ activityType: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' }] } },
      },
      aggregation: {
        ...daily,
        method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT',
        threshold: '3',
        groupBy: { user: {} },
      },
    };

    test('are made, read and deleted', async () => {
      const treasury = await open();
      const { root, id } = treasury;
      const { activity } = await control(treasury, threeADay);
      const velocityControlId = activity.result.createVelocityControlResult?.velocityControlId as string;
      expect(velocityControlId).toMatch(UUID);
      const stored = {
        ...threeADay,
        velocityControlId,
        organizationId: id,
        createdAt: TIMESTAMP,
        updatedAt: TIMESTAMP,
        // An addition of ours, off unless it is asked for.
      };
      const found = await root.http.getVelocityControl({ organizationId: id, velocityControlId });
      expect(found.velocityControl).toEqual(stored);
      expect((await root.http.listVelocityControls({ organizationId: id })).velocityControls).toEqual([stored]);
      const twice = await failure(control(treasury, { ...threeADay, name: 'again' }));
      expect(twice).toMatchObject({ code: 6 });

      const removed = await root.http.deleteVelocityControl(
        requestOf(id, 'ACTIVITY_TYPE_DELETE_VELOCITY_CONTROL', { velocityControlId }),
      );
      expect(removed.activity.result.deleteVelocityControlResult).toEqual({ velocityControlId });
      expect((await root.http.listVelocityControls({ organizationId: id })).velocityControls).toEqual([]);
      expect(await failure(root.http.getVelocityControl({ organizationId: id, velocityControlId }))).toMatchObject({
        code: 5,
      });
    });

    test('a number of activities: of those that race exactly so many get through', async () => {
      const treasury = await open();
      const agent = await treasury.hire();
      const other = await treasury.hire();
      await treasury.allow({ condition: SIGNS });
      await control(treasury, threeADay);
      const ends = await Promise.allSettled(
        Array.from({ length: 5 }, (_, index) => sign(agent, treasury, gift(BigInt(index)))),
      );
      const refused = ends.filter((end) => end.status === 'rejected');
      expect(refused).toHaveLength(2);
      for (const { reason } of refused) {
        const error = await refusal(Promise.reject(reason));
        expect(error.code).toBe(7);
        expect(errorCodeOf(error)).toBe('VELOCITY_EXCEEDED');
        expect(error.message).toContain('three a day');
      }
      for (const person of [other, treasury.root]) {
        expect((await sign(person, treasury, gift(9n))).activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
      }
    });

    test('an amount of an asset, until the control is deleted', async () => {
      const treasury = await open();
      const { root, id } = treasury;
      const agent = await treasury.hire();
      await treasury.allow({ condition: "activity.action == 'SIGN'", consensus: isUser(agent) });
      const { activity } = await control(treasury, {
        name: 'one ether',
        identifier: 'one_ether',
        dataSource: {
          chainAssetTransfer: {
            definition: [{ caip19: 'eip155:1/slip44:60', decimals: '18' }],
            phase: { signature: {} },
          },
        },
        aggregation: {
          ...daily,
          method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM',
          threshold: '1',
          groupBy: { organization: {} },
        },
      });
      const ether = 10n ** 18n;
      const status = async (transaction: TransactionSerializable) =>
        (await sign(agent, treasury, transaction)).activity.status;
      expect(await status(gift((ether * 6n) / 10n))).toBe('ACTIVITY_STATUS_COMPLETED');
      const over = await refusal(sign(agent, treasury, gift((ether * 4n) / 10n + 1n)));
      expect(errorCodeOf(over)).toBe('VELOCITY_EXCEEDED');
      expect(await status(gift((ether * 4n) / 10n))).toBe('ACTIVITY_STATUS_COMPLETED');
      expect(errorCodeOf(await refusal(sign(agent, treasury, gift(1n))))).toBe('VELOCITY_EXCEEDED');
      // Ether of another chain is another asset.
      expect(await status({ ...gift(1n), chainId: CHAIN })).toBe('ACTIVITY_STATUS_COMPLETED');
      const velocityControlId = activity.result.createVelocityControlResult?.velocityControlId as string;
      await root.http.deleteVelocityControl(
        requestOf(id, 'ACTIVITY_TYPE_DELETE_VELOCITY_CONTROL', { velocityControlId }),
      );
      expect(await status(gift(ether))).toBe('ACTIVITY_STATUS_COMPLETED');
    });
  });
});
