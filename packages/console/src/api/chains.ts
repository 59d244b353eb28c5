import type { ListChainsResponse } from '@custos/sdk';
import { familyOf } from '../lib/chains.ts';
import { useApi } from './use-api.ts';

export type Chain = ListChainsResponse['chains'][number];

export interface Account {
  readonly walletAccountId: string;
  readonly walletId: string;
  readonly curve: string;
  readonly path: string;
  readonly addressFormat: string;
  readonly address: string;
  readonly name?: string;
  readonly publicKey?: string;
}

/** An account on one of the chains that the operator has configured; without one where there is none. */
export interface Place {
  readonly key: string;
  readonly account: Account;
  readonly chain: Chain | undefined;
}

export const useChains = () => useApi('listChains');

/** One address is an account on every chain of its family. */
export function placesOf(accounts: readonly Account[], chains: readonly Chain[]): readonly Place[] {
  return accounts.flatMap((account): Place[] => {
    const { namespace } = familyOf(account.addressFormat);
    const own = namespace === undefined ? [] : chains.filter(({ caip2 }) => caip2.startsWith(`${namespace}:`));
    const id = account.walletAccountId;
    if (own.length === 0) return [{ key: id, account, chain: undefined }];
    return own.map((chain) => ({ key: `${id} ${chain.caip2}`, account, chain }));
  });
}
