import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { renderVelocityControl } from '../render.ts';
import { VelocityControlShape } from '../shapes.ts';
import { VelocityReader } from '../store/velocity.ts';

export const listVelocityControls = defineQuery({
  name: 'list_velocity_controls',
  summary: 'Velocity controls of the organization, oldest first.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({ velocityControls: Type.Array(VelocityControlShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { paginationOptions }) {
    const { organizationId } = actor;
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read(VelocityReader).page(organizationId, request);
    return { velocityControls: items.map((control) => renderVelocityControl(organizationId, control)), pageInfo };
  },
});
