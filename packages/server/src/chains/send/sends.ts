import type { OrganizationId } from '../../lib/ids.ts';
import type { ContractInterfaceType } from '../contract-interface-types.ts';
import type { Send } from './model.ts';

// What a family's sends read of stored ones. The domains that own the tables provide it.

export abstract class Sends {
  abstract find(organizationId: OrganizationId, id: string): Promise<Send | undefined>;
  abstract hasHash(caip2: string, txHash: string): Promise<boolean>;
  abstract isTaken(caip2: string, txHash: string): Promise<boolean>;
  abstract onTheWay(caip2: string, lane: string): Promise<ReadonlyMap<string, number>>;
  abstract refusedAt(caip2: string, lane: string, nonce: number, isShared?: boolean): Promise<Send | undefined>;
  abstract takenNonces(caip2: string, lane: string, from?: number, isShared?: boolean): Promise<ReadonlySet<number>>;
}

export abstract class ContractInterfaces {
  abstract ofAddresses(
    organizationId: OrganizationId,
    type: ContractInterfaceType,
    addresses: readonly string[],
  ): Promise<readonly { readonly definition: string }[]>;
}
