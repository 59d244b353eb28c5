import Type from 'typebox';
import type { VelocityAggregation, VelocityDataSource } from '../../../core/model.ts';
import { defineActivity } from '../../../engine/define.ts';
import { checkControl } from '../../../engine/rules/velocity.ts';
import { invalidField } from '../../../lib/errors.ts';
import type { VelocityControlId } from '../../../lib/ids.ts';
import { NameShape, textShape } from '../../../lib/shapes.ts';
import { velocitySentence } from '../sentences.ts';
import { VelocityAggregationShape, VelocityDataSourceShape } from '../shapes.ts';
import { VelocityStore } from '../store/velocity.ts';

export const createVelocityControl = defineActivity({
  name: 'create_velocity_control',
  type: 'ACTIVITY_TYPE_CREATE_VELOCITY_CONTROL',
  summary: 'Limit how much, or how often, may be done in a window of time, whatever policies allow.',
  policy: { governedBy: 'policy', resource: 'POLICY', action: 'CREATE' },
  credentials: 'none',
  parameters: Type.Object({
    name: NameShape,
    dataSource: VelocityDataSourceShape,
    aggregation: VelocityAggregationShape,
    identifier: textShape(255),
    /** Ours. */
    refuseUncounted: Type.Optional(Type.Boolean()),
  }),
  sentence: (control) => velocitySentence(control),
  result: Type.Object({ velocityControlId: Type.String() }),
  check({ dataSource, aggregation, refuseUncounted }) {
    checkControl(dataSource as VelocityDataSource, aggregation as VelocityAggregation, 'parameters');
    if (refuseUncounted === true && dataSource.chainAssetTransfer === undefined) {
      throw invalidField(
        'parameters.refuseUncounted',
        'needs dataSource.chainAssetTransfer: an activity always counts',
      );
    }
  },
  async execute(
    { store, actor, newId, nowMs },
    { name, dataSource, aggregation, identifier, refuseUncounted = false },
  ) {
    const velocityControlId: VelocityControlId = newId();
    await store(VelocityStore).insert(actor.organizationId, {
      id: velocityControlId,
      name,
      identifier,
      dataSource: dataSource as VelocityDataSource,
      aggregation: aggregation as VelocityAggregation,
      refuseUncounted,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    });
    return { velocityControlId };
  },
});
