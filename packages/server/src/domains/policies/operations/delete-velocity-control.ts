import Type from 'typebox';
import { nameOf } from '../../../describe/names.ts';
import { danger } from '../../../describe/sentence.ts';
import { say } from '../../../describe/text.ts';
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
  sentence: ({ velocityControlId }, { names }) =>
    danger(
      say`Delete the limit ${nameOf(names, 'velocityControl', velocityControlId)}: what it held back is no longer limited.`,
      'takes a limit away',
      'What this limit held back is no longer limited. I want that.',
    ),
  result: Type.Object({ velocityControlId: Type.String() }),
  async execute({ store, actor }, { velocityControlId }) {
    await store(VelocityStore).delete(actor.organizationId, velocityControlId);
    return { velocityControlId };
  },
});
