import { nativeAsset, tokenAssets } from '../../../chains/assets.ts';
import { knownChain } from '../../../chains/known-chains.ts';
import type { ConfiguredChains } from '../../../chains/settings.ts';
import type { OrganizationId } from '../../../lib/ids.ts';
import type { Mentions, Named, NamedKind, Names } from '../../../policy/index.ts';
import { addressKey } from '../../../storage/address-key.ts';
import type { ReadStores } from '../../../storage/stores.ts';
import { TagReader } from '../../users/store/tags.ts';
import { UserReader } from '../../users/store/users.ts';
import { PrivateKeyReader } from '../../wallets/store/private-keys.ts';
import { WalletReader } from '../../wallets/store/wallets.ts';
import { ContractInterfaceReader } from '../store/contract-interfaces.ts';
import { PolicyReader } from '../store/policies.ts';

/** Characters that turn the direction of what follows, so that a name could reorder the sentence around it. */
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const SHOWN_MAX = 120;

/** A name inside a sentence: short, and without power over the rest of it. */
export const shownName = (name: string): string => {
  const shown = name.replace(DIRECTIONS, '');
  return shown.length > SHOWN_MAX ? `${[...shown].slice(0, SHOWN_MAX).join('')}…` : shown;
};

/** The names of everything that some texts mention, each kind by one statement. */
export async function loadNames(
  read: ReadStores,
  organizationId: OrganizationId,
  chains: ConfiguredChains,
  { ids, addresses }: Mentions,
): Promise<Names> {
  const hex = addresses.filter((address) => address.startsWith('0x'));
  const [users, tags, wallets, privateKeys, policies, accounts, contracts] = await Promise.all([
    read(UserReader).namesOf(organizationId, ids),
    read(TagReader).namesOf(organizationId, ids),
    read(WalletReader).namesOf(organizationId, ids),
    read(PrivateKeyReader).namesOf(organizationId, ids),
    read(PolicyReader).namesOf(organizationId, ids),
    read(WalletReader).namesOfAddresses(organizationId, addresses),
    read(ContractInterfaceReader).labels(organizationId, 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM', hex),
  ]);
  const things = new Map<string, Named>();
  const add = (kind: NamedKind, names: ReadonlyMap<string, string>): void => {
    for (const [id, name] of names) things.set(id, { kind, name: shownName(name) });
  };
  add('policy', policies);
  add('privateKey', privateKeys);
  add('wallet', wallets);
  add('tag', tags);
  add('user', users);
  const tokens = new Map([...chains.values()].map((chain) => [chain.caip2, tokenAssets(chain)]));
  return {
    thing: (id) => things.get(id.toLowerCase()),
    address: (address) => {
      const name = accounts.get(addressKey(address)) ?? contracts.get(addressKey(address));
      return name === undefined || name === '' ? undefined : shownName(name);
    },
    chain: (caip2) => knownChain(caip2)?.name,
    coin: (caip2) => {
      const chain = chains.get(caip2);
      // What nobody named has the family's coin by default, which is ether for every chain of its kind.
      const named = chain?.assets.some(({ caip19 }) => caip19.includes('/slip44:')) === true;
      return named && chain !== undefined ? nativeAsset(chain) : knownChain(caip2);
    },
    token: (caip2, address) => tokens.get(caip2)?.get(addressKey(address)),
  };
}
