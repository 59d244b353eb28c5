import Type from 'typebox';
import { TreeReader } from '../../core/store/tree.ts';
import type { QueryContext } from '../../engine/define.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import { PrivateKeyReader } from '../wallets/store/private-keys.ts';
import { WalletReader } from '../wallets/store/wallets.ts';

/** Of any chain; what is written as one of Ethereum is one. Those of other chains hold nothing in wrappers. */
export const WalletAddressShape = Type.String({
  pattern: '^(?:0[xX][0-9a-fA-F]{40}|(?!0[xX])[\\w:-]{20,128})$',
  'x-message': 'must be the address of a wallet',
});

/** The organizations among those that the caller may see, its own and its children, that have the wallet. */
export async function holdersOf({ read, actor }: QueryContext, wallet: string): Promise<OrganizationId[]> {
  const { organizationId, organization } = actor;
  const [accounts, privateKey, children] = await Promise.all([
    read(WalletReader).accountsByAddress(organizationId, wallet),
    read(PrivateKeyReader).byAddress(organizationId, wallet),
    organization.parentId === undefined ? read(TreeReader).holdersOfAddress(organizationId, wallet) : [],
  ]);
  return accounts.length > 0 || privateKey !== undefined ? [organizationId, ...children] : children;
}
