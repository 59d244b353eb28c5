import Type from 'typebox';
import { toPageRequest } from '../../lib/pagination.ts';
import { renderApp } from '../../wire/deployments.ts';
import { defineQuery } from '../define.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../shapes/basic.ts';
import { TvcAppShape } from '../shapes/deployments.ts';

export const listTvcApps = defineQuery({
  name: 'list_tvc_apps',
  summary: 'Apps of the organization that are not deleted, oldest first.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({ tvcApps: Type.Array(TvcAppShape), pageInfo: PageInfoShape }),
  async run({ read, actor: { organizationId }, config }, { paginationOptions }) {
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read.tvc.apps(organizationId, request);
    const setIds = items.flatMap(({ manifestSetId, shareSetId }) => [manifestSetId, shareSetId]);
    const sets = await read.tvc.operatorSets(organizationId, setIds);
    return { tvcApps: items.map((app) => renderApp(organizationId, app, sets, config.appDomain)), pageInfo };
  },
});
