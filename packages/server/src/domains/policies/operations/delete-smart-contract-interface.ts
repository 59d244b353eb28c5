import Type from 'typebox';
import { defineActivity } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { ContractInterfaceStore } from '../store/contract-interfaces.ts';

export const deleteSmartContractInterface = defineActivity({
  name: 'delete_smart_contract_interface',
  type: 'ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE',
  summary: 'Delete the interface of a contract. Policies that need it no longer match.',
  policy: { governedBy: 'policy', resource: 'SMART_CONTRACT_INTERFACE', action: 'DELETE' },
  credentials: 'none',
  parameters: Type.Object({ smartContractInterfaceId: IdShape }),
  result: Type.Object({ smartContractInterfaceId: Type.String() }),
  async execute({ store, actor }, { smartContractInterfaceId }) {
    await store(ContractInterfaceStore).delete(actor.organizationId, smartContractInterfaceId);
    return { smartContractInterfaceId };
  },
});
