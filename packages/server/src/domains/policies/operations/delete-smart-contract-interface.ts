import Type from 'typebox';
import { nameOf } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { say } from '../../../describe/text.ts';
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
  sentence: ({ smartContractInterfaceId }, { names }) =>
    lookClosely(
      say`Delete the interface ${nameOf(names, 'uploadedInterface', smartContractInterfaceId)}: nobody here can read calls of that contract then.`,
      'calls become unreadable',
      'Policies that read arguments of that contract then no longer apply. I want that.',
    ),
  result: Type.Object({ smartContractInterfaceId: Type.String() }),
  async execute({ store, actor }, { smartContractInterfaceId }) {
    await store(ContractInterfaceStore).delete(actor.organizationId, smartContractInterfaceId);
    return { smartContractInterfaceId };
  },
});
