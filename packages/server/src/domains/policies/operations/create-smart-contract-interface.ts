import Type from 'typebox';
import { CONTRACT_INTERFACE_TYPES, checkContractInterface } from '../../../chains/contract-interface.ts';
import type { ContractInterfaceType } from '../../../core/model.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { named, say } from '../../../describe/text.ts';
import { addressPart } from '../../../describe/values.ts';
import { defineActivity } from '../../../engine/define.ts';
import { NotesShape } from '../../../engine/shapes/rules.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { ContractInterfaceId } from '../../../lib/ids.ts';
import { LIMITS } from '../../../lib/limits.ts';
import { NameShape, textShape } from '../../../lib/shapes.ts';
import { ContractInterfaceStore } from '../store/contract-interfaces.ts';

const INTERFACE_MAX = 400_000;

export const createSmartContractInterface = defineActivity({
  name: 'create_smart_contract_interface',
  type: 'ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE',
  summary: 'Upload the ABI or IDL of a contract, so that policies can speak of its functions and arguments.',
  policy: { governedBy: 'policy', resource: 'SMART_CONTRACT_INTERFACE', action: 'CREATE' },
  credentials: 'none',
  parameters: Type.Object({
    smartContractAddress: textShape(128),
    smartContractInterface: textShape(INTERFACE_MAX),
    type: Type.Enum([...CONTRACT_INTERFACE_TYPES]),
    label: NameShape,
    notes: Type.Optional(NotesShape),
  }),
  sentence: ({ label, smartContractAddress }) =>
    lookClosely(
      say`Upload the interface ${named(label)} of ${addressPart(smartContractAddress)}: calls of that contract are read by it from then on.`,
      'decides how calls are read',
      'I know that this interface is that of the contract: policies and sentences go by it.',
    ),
  result: Type.Object({ smartContractInterfaceId: Type.String() }),
  check: ({ type, smartContractAddress, smartContractInterface }) =>
    void checkContractInterface(type as ContractInterfaceType, smartContractAddress, smartContractInterface),
  async execute({ store, actor, newId, nowMs }, parameters) {
    const smartContractInterfaceId: ContractInterfaceId = newId();
    await store(ContractInterfaceStore).insert(actor.organizationId, {
      id: smartContractInterfaceId,
      type: parameters.type as ContractInterfaceType,
      address: parameters.smartContractAddress,
      definition: parameters.smartContractInterface,
      label: parameters.label,
      notes: parameters.notes ?? '',
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    });
    if ((await store(ContractInterfaceStore).length(actor.organizationId)) > LIMITS.interfacesLength) {
      throw new ApiError(
        'RESOURCE_LIMIT_EXCEEDED',
        `the contract interfaces of an organization can have at most ${LIMITS.interfacesLength} characters together`,
      );
    }
    return { smartContractInterfaceId };
  },
});
