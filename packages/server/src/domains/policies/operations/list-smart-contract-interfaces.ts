import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { renderContractInterface } from '../render.ts';
import { ContractInterfaceShape } from '../shapes.ts';
import { ContractInterfaceReader } from '../store/contract-interfaces.ts';

export const listSmartContractInterfaces = defineQuery({
  name: 'list_smart_contract_interfaces',
  summary: 'The uploaded contract interfaces of the organization, oldest first.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({ smartContractInterfaces: Type.Array(ContractInterfaceShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { paginationOptions }) {
    const { organizationId } = actor;
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read(ContractInterfaceReader).page(organizationId, request);
    return {
      smartContractInterfaces: items.map((contract) => renderContractInterface(organizationId, contract)),
      pageInfo,
    };
  },
});
