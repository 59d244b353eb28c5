import type { AssetRules } from '../chain.ts';
import { isEthereumAddress } from './address.ts';

export const evmAssets: AssetRules = {
  refuseReference: (reference) =>
    /^[1-9][0-9]*$/.test(reference) ? undefined : 'the chain id is not a decimal number',
  kinds: {
    slip44: (reference) => (/^(0|[1-9][0-9]*)$/.test(reference) ? reference : undefined),
    erc20: (reference) => (isEthereumAddress(reference) ? reference.toLowerCase() : undefined),
  },
};
