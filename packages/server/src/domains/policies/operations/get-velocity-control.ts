import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { renderVelocityControl } from '../render.ts';
import { VelocityControlShape } from '../shapes.ts';
import { VelocityReader } from '../store/velocity.ts';

export const getVelocityControl = defineQuery({
  name: 'get_velocity_control',
  summary: 'One velocity control.',
  parameters: Type.Object({ organizationId: IdShape, velocityControlId: IdShape }),
  response: Type.Object({ velocityControl: VelocityControlShape }),
  async run({ read, actor }, { velocityControlId }) {
    const control = await read(VelocityReader).get(actor.organizationId, velocityControlId);
    return { velocityControl: renderVelocityControl(actor.organizationId, control) };
  },
});
