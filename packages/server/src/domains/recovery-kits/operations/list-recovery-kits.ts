import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { renderRecoveryKit } from '../render.ts';
import { RecoveryKitShape } from '../shapes.ts';
import { RecoveryKitReader } from '../store.ts';

export const listRecoveryKits = defineQuery({
  name: 'list_recovery_kits',
  summary: 'The recovery kits that the service still has, newest first, without their contents.',
  ours: true,
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({ recoveryKits: Type.Array(RecoveryKitShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { paginationOptions }) {
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read(RecoveryKitReader).page(actor.organizationId, request);
    return { recoveryKits: items.map(renderRecoveryKit), pageInfo };
  },
});
