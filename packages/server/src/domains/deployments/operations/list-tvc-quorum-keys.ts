import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { TvcQuorumKeyShape } from '../shapes.ts';
import { TvcReader } from '../store.ts';

export const listTvcQuorumKeys = defineQuery({
  name: 'list_tvc_quorum_keys',
  summary: 'Always empty: quorum keys are made and split inside enclaves, and this service has none.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({ tvcQuorumKeys: Type.Array(TvcQuorumKeyShape), pageInfo: PageInfoShape }),
  async run({ read, config }, { paginationOptions }) {
    const { items, pageInfo } = await read(TvcReader).quorumKeys(toPageRequest(paginationOptions, config.listMax));
    return { tvcQuorumKeys: [...items], pageInfo };
  },
});
