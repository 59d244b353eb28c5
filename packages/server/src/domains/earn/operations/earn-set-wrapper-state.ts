import Type from 'typebox';
import { toChecksum } from '../../../chains/ethereum/address.ts';
import { checkChecksum, EthereumAddressShape } from '../../../chains/shapes.ts';
import { partyPart } from '../../../describe/chains/parties.ts';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { EarnStore } from '../store.ts';
import { ownWrappers } from '../wrappers.ts';

/** The switch is ours and not the contract's, which nobody can pause. */
export const earnSetWrapperState = defineActivity({
  name: 'earn_set_wrapper_state',
  type: 'ACTIVITY_TYPE_EARN_SET_WRAPPER_STATE',
  summary: 'Disable deposits into a fee wrapper, or enable them again. Withdrawals always go on.',
  waitsOutside: true,
  policy: {
    governedBy: 'policy',
    resource: 'CONFIG',
    action: 'UPDATE',
    params: ['wrapper_address', 'deposits_disabled'],
  },
  credentials: 'none',
  scope: 'parent',
  parameters: Type.Object({ wrapperAddress: EthereumAddressShape, depositsDisabled: Type.Boolean() }),
  sentence: ({ wrapperAddress, depositsDisabled }, context) =>
    say`${depositsDisabled ? 'Stop' : 'Allow'} deposits into the fee wrapper ${partyPart(context, wrapperAddress)}.`,
  result: Type.Object({ wrapperAddress: Type.String(), depositsDisabled: Type.Boolean() }),
  check: ({ wrapperAddress }) => checkChecksum('parameters.wrapperAddress', wrapperAddress),
  describe: ({ read, actor }, { wrapperAddress }) => ownWrappers(read, actor.organizationId, wrapperAddress),
  exposes: ({ wrapperAddress, depositsDisabled }) => ({
    wrapper_address: wrapperAddress,
    deposits_disabled: depositsDisabled,
  }),
  async execute({ store, actor, nowMs }, { wrapperAddress, depositsDisabled }) {
    for (const wrapper of await ownWrappers(store, actor.organizationId, wrapperAddress)) {
      await store(EarnStore).setDepositsDisabled(wrapper, depositsDisabled, nowMs);
    }
    return { wrapperAddress: toChecksum(wrapperAddress), depositsDisabled };
  },
});
