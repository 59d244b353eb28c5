import Type from 'typebox';
import { defineActivity } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { VelocityStore } from '../store/velocity.ts';

export const deleteVelocityControl = defineActivity({
  name: 'delete_velocity_control',
  type: 'ACTIVITY_TYPE_DELETE_VELOCITY_CONTROL',
  summary: 'Delete a velocity control with what it has counted.',
  policy: { governedBy: 'policy', resource: 'POLICY', action: 'DELETE' },
  credentials: 'none',
  parameters: Type.Object({ velocityControlId: IdShape }),
  result: Type.Object({ velocityControlId: Type.String() }),
  async execute({ store, actor }, { velocityControlId }) {
    await store(VelocityStore).delete(actor.organizationId, velocityControlId);
    return { velocityControlId };
  },
});
