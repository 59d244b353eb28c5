import Type from 'typebox';
import { renderVelocityControl } from '../../wire/access.ts';
import { defineQuery } from '../define.ts';
import { VelocityControlShape } from '../shapes/access.ts';
import { IdShape } from '../shapes/basic.ts';

export const getVelocityControl = defineQuery({
  name: 'get_velocity_control',
  summary: 'One velocity control.',
  parameters: Type.Object({ organizationId: IdShape, velocityControlId: IdShape }),
  response: Type.Object({ velocityControl: VelocityControlShape }),
  async run({ read, actor }, { velocityControlId }) {
    const control = await read.velocity.get(actor.organizationId, velocityControlId);
    return { velocityControl: renderVelocityControl(actor.organizationId, control) };
  },
});
