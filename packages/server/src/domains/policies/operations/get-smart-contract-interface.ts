import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { renderContractInterface } from '../render.ts';
import { ContractInterfaceShape } from '../shapes.ts';
import { ContractInterfaceReader } from '../store/contract-interfaces.ts';

export const getSmartContractInterface = defineQuery({
  name: 'get_smart_contract_interface',
  summary: 'The uploaded interface of one contract.',
  parameters: Type.Object({ organizationId: IdShape, smartContractInterfaceId: IdShape }),
  response: Type.Object({ smartContractInterface: ContractInterfaceShape }),
  async run({ read, actor }, { smartContractInterfaceId }) {
    const contract = await read(ContractInterfaceReader).get(actor.organizationId, smartContractInterfaceId);
    return { smartContractInterface: renderContractInterface(actor.organizationId, contract) };
  },
});
