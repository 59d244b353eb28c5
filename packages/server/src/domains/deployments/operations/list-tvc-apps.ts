import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { renderApp } from '../render.ts';
import { TvcAppShape } from '../shapes.ts';
import { TvcReader } from '../store.ts';

export const listTvcApps = defineQuery({
  name: 'list_tvc_apps',
  summary: 'Apps of the organization that are not deleted, oldest first.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({ tvcApps: Type.Array(TvcAppShape), pageInfo: PageInfoShape }),
  async run({ read, actor: { organizationId }, config }, { paginationOptions }) {
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read(TvcReader).apps(organizationId, request);
    const setIds = items.flatMap(({ manifestSetId, shareSetId }) => [manifestSetId, shareSetId]);
    const sets = await read(TvcReader).operatorSets(organizationId, setIds);
    return { tvcApps: items.map((app) => renderApp(organizationId, app, sets, config.appDomain)), pageInfo };
  },
});
